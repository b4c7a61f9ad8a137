import { formatDate, formatTime } from "./format";

/** A point in time, in the reader's time zone. The title has the exact value. */
export function Moment({ at, precise = true }: { at: string | null | undefined; precise?: boolean }) {
  if (!at) return <span className="text-muted">–</span>;
  return (
    <time dateTime={at} title={at} className="tnum whitespace-nowrap">
      {precise ? formatTime(at) : formatDate(at)}
    </time>
  );
}
