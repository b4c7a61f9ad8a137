import { useSyncExternalStore } from "react";

let layers: HTMLElement[] = [];
const listeners = new Set<() => void>();

function publish(next: HTMLElement[]): void {
  layers = next;
  for (const listener of listeners) listener();
}

/** Notes an open modal dialog. Everything outside it cannot be used or read. Returns the function that removes it. */
export function addLayer(element: HTMLElement): () => void {
  publish([...layers, element]);
  return () => publish(layers.filter((each) => each !== element));
}

/** The newest open modal dialog, or the page. */
export function useTopLayer(): HTMLElement {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => layers.at(-1) ?? document.body,
  );
}
