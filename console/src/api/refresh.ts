import type { QueryClient } from "@tanstack/react-query";

const AGAIN_MS = 2_000;

/** Reads queries again, now and after a moment: the stages apply a change after its request has succeeded. */
export function refresh(client: QueryClient, ...names: string[]): void {
  const read = () => {
    for (const name of names) void client.invalidateQueries({ queryKey: [name] });
  };
  read();
  window.setTimeout(read, AGAIN_MS);
}
