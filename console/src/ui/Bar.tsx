import { cx } from "./classes";

interface Props {
  value: number;
  scale: number;
  /** With an axis in the middle, for values of both signs. */
  signed?: boolean;
  tone?: string;
}

/** A horizontal bar. It repeats a number that is next to it, so it is hidden from screen readers. */
export function Bar({ value, scale, signed = false, tone = "bg-s1" }: Props) {
  const share = scale > 0 ? Math.min(Math.abs(value) / scale, 1) * 100 : 0;
  if (!signed) {
    return (
      <span aria-hidden className="block h-2 w-full rounded-sm bg-raised">
        <span className={cx("block h-full rounded-sm", tone)} style={{ width: `${share}%` }} />
      </span>
    );
  }
  return (
    <span aria-hidden className="relative block h-2 w-full rounded-sm bg-raised">
      <span className="absolute inset-y-0 left-1/2 w-px bg-line-strong" />
      <span
        className={cx("absolute inset-y-0 rounded-sm", value < 0 ? "bg-s6" : tone)}
        style={value < 0 ? { right: "50%", width: `${share / 2}%` } : { left: "50%", width: `${share / 2}%` }}
      />
    </span>
  );
}
