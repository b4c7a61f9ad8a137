import { formatCount, formatExactCount } from "./format";

/** A number, short when it is large; the title has every digit. */
export function Count({ value }: { value: number }) {
  return <span title={formatExactCount(value)}>{formatCount(value)}</span>;
}
