/** A property's value: texts with their lines, numbers, or JSON. */
export function Value({ value }: { value: unknown }) {
  if (value === null || value === undefined || value === "") return <span className="text-muted">nothing</span>;
  if (typeof value === "string") return <bdi className="break-words whitespace-pre-line">{value}</bdi>;
  if (typeof value === "number" || typeof value === "boolean") return <span className="tnum">{String(value)}</span>;
  return <code className="font-mono text-xs whitespace-pre-wrap">{JSON.stringify(value, null, 1)}</code>;
}
