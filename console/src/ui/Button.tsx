import type { ButtonHTMLAttributes } from "react";

import { cx } from "./classes";

type Tone = "primary" | "plain" | "quiet" | "danger";

const TONES: Record<Tone, string> = {
  primary: "bg-accent-strong text-accent-ink border-transparent hover:brightness-110",
  plain: "bg-panel text-ink border-line-strong hover:bg-raised",
  quiet: "bg-transparent text-ink border-transparent hover:bg-raised",
  danger: "bg-bad-strong text-white border-transparent hover:brightness-110",
};

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  tone?: Tone;
  size?: "normal" | "small";
  busy?: boolean;
}

/** A button. While it is busy it does nothing, but keeps the focus, which a disabled button would lose. */
export function Button({ tone = "plain", size = "normal", busy = false, className, children, type = "button", onClick, ...rest }: Props) {
  return (
    <button
      type={type}
      aria-disabled={busy || undefined}
      aria-busy={busy || undefined}
      onClick={busy ? (event) => event.preventDefault() : onClick}
      className={cx(
        "inline-flex items-center justify-center gap-1.5 rounded-md border font-medium whitespace-nowrap transition-colors",
        "disabled:cursor-not-allowed disabled:opacity-60 aria-disabled:cursor-not-allowed aria-disabled:opacity-60",
        size === "small" ? "min-h-7 px-2 text-xs" : "min-h-9 px-3 text-sm",
        TONES[tone],
        className,
      )}
      {...rest}
    >
      {busy && <span aria-hidden className="size-3 animate-spin rounded-full border-2 border-current border-r-transparent" />}
      {children}
    </button>
  );
}
