import { X } from "lucide-react";
import { useId, useLayoutEffect, useRef, type ReactNode } from "react";

import { cx } from "./classes";
import { addLayer } from "./topLayer";

interface Props {
  title: string;
  onClose: () => void;
  children: ReactNode;
  /** A sheet fills the right side of the window, for details next to a list. */
  shape?: "box" | "sheet" | "menu";
}

const SHAPES = {
  box: "m-auto w-[min(34rem,calc(100vw-1.5rem))] max-h-[calc(100dvh-2rem)] rounded-lg border",
  sheet: "ml-auto mr-0 my-0 h-dvh max-h-none w-[min(44rem,100vw)] border-l",
  menu: "mr-auto ml-0 my-0 h-dvh max-h-none w-64 border-r",
};

/** A modal dialog: the browser's own, which keeps the focus inside and closes on Escape. */
export function Dialog({ title, onClose, children, shape = "box" }: Props) {
  const element = useRef<HTMLDialogElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const pressedOutside = useRef(false);
  const id = useId();

  // A layout effect: its cleanup runs while the dialog is still in the page, so that the focus can go back.
  useLayoutEffect(() => {
    const dialog = element.current;
    if (dialog === null) return undefined;
    const opener = document.activeElement;
    dialog.showModal();
    // A form starts in its first field, not on the button that closes it.
    if (shape === "box") body.current?.querySelector<HTMLElement>("input:not(:disabled), textarea, select")?.focus();
    const removeLayer = addLayer(dialog);
    return () => {
      removeLayer();
      dialog.close();
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, [shape]);

  return (
    // The browser handles the keyboard: Escape closes the dialog.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions, jsx-a11y/click-events-have-key-events
    <dialog
      ref={element}
      aria-labelledby={id}
      onCancel={(event) => {
        // React also passes the event of a dialog inside this one, which would close both.
        if (event.target !== element.current) return;
        event.preventDefault();
        onClose();
      }}
      onPointerDown={(event) => {
        pressedOutside.current = event.target === element.current;
      }}
      onClick={(event) => {
        // A click beside a form would lose its texts; so would a selection of text that ends there.
        if (shape !== "box" && pressedOutside.current && event.target === element.current) onClose();
      }}
      className={cx("overflow-hidden p-0 shadow-xl", SHAPES[shape])}
    >
      <div className={cx("flex flex-col", shape === "box" ? "max-h-[calc(100dvh-2rem)]" : "h-full")}>
        <header className="flex items-center gap-2 border-b py-2 pr-2 pl-4">
          <h2 id={id} className="min-w-0 flex-1 truncate text-sm font-semibold">
            {title}
          </h2>
          <button type="button" onClick={onClose} aria-label="Close" className="rounded-md p-2 text-muted hover:bg-raised">
            <X aria-hidden className="size-4" />
          </button>
        </header>
        <div ref={body} className="min-h-0 flex-1 overflow-y-auto p-4">{children}</div>
      </div>
    </dialog>
  );
}
