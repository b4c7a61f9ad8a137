import { formatDate, formatDistance, formatExactTime, formatTime } from "./format";
import { useNow } from "./now";

interface Props {
  at: string | null | undefined;
  /** With the time of day. */
  precise?: boolean;
}

/** A point in time of a conversation, in the reader's time zone. The title has the exact value. */
export function Moment({ at, precise = true }: Props) {
  if (!at) return <span className="text-muted">–</span>;
  return (
    <time dateTime={at} title={formatExactTime(at)} className="tnum whitespace-nowrap">
      {precise ? formatTime(at) : formatDate(at)}
    </time>
  );
}

/** When something happened in the service: how long ago, if that is less than a week. `full` adds the time itself, where there is room. */
export function Ago({ at, full = false }: { at: string | null | undefined; full?: boolean }) {
  const distance = formatDistance(at ?? "", useNow());
  if (!at || distance === null) return <Moment at={at} />;
  return (
    <time dateTime={at} title={formatExactTime(at)} className="tnum whitespace-nowrap">
      {full ? `${formatTime(at)} (${distance})` : distance}
    </time>
  );
}
