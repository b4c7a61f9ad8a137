import { useSyncExternalStore } from "react";

const TICK_MS = 15_000;

let now = Date.now();
let timer: number | undefined;
const listeners = new Set<() => void>();

function tick(): void {
  now = Date.now();
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  if (timer === undefined) {
    now = Date.now();
    timer = window.setInterval(tick, TICK_MS);
  }
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    window.clearInterval(timer);
    timer = undefined;
  };
}

/** The present in milliseconds, within a quarter of a minute. All readers see the same value. */
export const useNow = (): number => useSyncExternalStore(subscribe, () => now);
