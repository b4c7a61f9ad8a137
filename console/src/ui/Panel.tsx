import { useEffect, useRef, type ReactNode } from "react";

import { cx } from "./classes";
import { takePageFocus } from "./pageFocus";

interface Props {
  title?: ReactNode;
  note?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  /** Without padding, for tables that fill the panel. */
  flush?: boolean;
  className?: string;
}

/** A titled part of a page. */
export function Panel({ title, note, actions, children, flush = false, className }: Props) {
  return (
    <section className={cx("min-w-0 rounded-lg border bg-panel", className)}>
      {title && (
        <header className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b px-4 py-2.5">
          <h2 className="text-sm font-semibold">{title}</h2>
          {note && <p className="text-xs text-muted">{note}</p>}
          {actions && <div className="ml-auto flex flex-wrap items-center gap-2">{actions}</div>}
        </header>
      )}
      <div className={flush ? "" : "p-4"}>{children}</div>
    </section>
  );
}

/** Title, purpose and actions of a page. */
export function PageHeader({ title, purpose, actions }: { title: string; purpose?: ReactNode; actions?: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (takePageFocus()) heading.current?.focus({ preventScroll: true });
  }, []);
  useEffect(() => {
    document.title = `${title} · Varve console`;
  }, [title]);
  return (
    <header className="flex flex-wrap items-start gap-x-4 gap-y-2">
      <div className="min-w-0 flex-1 basis-64">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {purpose && <p className="mt-0.5 max-w-prose text-sm text-muted">{purpose}</p>}
      </div>
      {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
    </header>
  );
}
