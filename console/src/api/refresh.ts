import type { QueryClient } from "@tanstack/react-query";

const AGAIN_MS = [2_000, 6_000];

/** Reads queries again, now and after some moments: the stages apply a change after its request has succeeded. */
export function refresh(client: QueryClient, ...names: string[]): void {
  const read = () => {
    for (const name of names) void client.invalidateQueries({ queryKey: [name] });
  };
  read();
  for (const wait of AGAIN_MS) window.setTimeout(read, wait);
}
