import { useMutation, useQueryClient } from "@tanstack/react-query";

const AGAIN_MS = [2_000, 6_000];

/** A change. Queries are read again after it, now and after some moments: the stages apply it after its request has succeeded. */
export function useChange<Input, Output>(change: (input: Input) => Promise<Output>, ...names: string[]) {
  const client = useQueryClient();
  const read = () => {
    for (const name of names) void client.invalidateQueries({ queryKey: [name] });
  };
  return useMutation({
    mutationFn: change,
    onSuccess: () => {
      read();
      for (const wait of AGAIN_MS) window.setTimeout(read, wait);
    },
  });
}
