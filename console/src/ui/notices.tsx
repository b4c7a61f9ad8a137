import { X } from "lucide-react";
import { useSyncExternalStore } from "react";
import { createPortal } from "react-dom";

import { useTopLayer } from "./topLayer";

interface Notice {
  id: number;
  text: string;
}

let notices: Notice[] = [];
let nextId = 1;
const listeners = new Set<() => void>();

function publish(next: Notice[]): void {
  notices = next;
  for (const listener of listeners) listener();
}

/** Reports the outcome of a change; screen readers read it out. */
export function notify(text: string): void {
  const id = nextId++;
  publish([...notices.slice(-2), { id, text }]);
  window.setTimeout(() => dismiss(id), 8000);
}

function dismiss(id: number): void {
  publish(notices.filter((notice) => notice.id !== id));
}

export function Notices() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => notices,
  );
  const layer = useTopLayer();
  return createPortal(
    <div role="status" className="fixed right-4 bottom-4 z-20 flex w-[min(22rem,calc(100vw-2rem))] flex-col gap-2">
      {shown.map((notice) => (
        <div key={notice.id} className="flex items-start gap-2 rounded-md border border-line-strong bg-panel py-2 pr-2 pl-3 text-sm shadow-lg">
          <p className="flex-1">{notice.text}</p>
          <button type="button" aria-label="Dismiss" onClick={() => dismiss(notice.id)} className="rounded p-1 text-muted hover:bg-raised">
            <X aria-hidden className="size-3.5" />
          </button>
        </div>
      ))}
    </div>,
    layer,
  );
}
