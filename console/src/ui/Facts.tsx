import type { ReactNode } from "react";

/** Names and values of one thing. Empty values are left out. */
export function Facts({ items }: { items: [name: string, value: ReactNode][] }) {
  return (
    <dl className="grid grid-cols-[minmax(6rem,auto)_1fr] gap-x-4 gap-y-1.5 text-sm">
      {items
        .filter(([, value]) => value !== null && value !== undefined && value !== "" && value !== false)
        .map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-muted">{name}</dt>
            <dd className="min-w-0">{value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** One figure with its name. */
export function Figure({ name, value, unit, note }: { name: string; value: ReactNode; unit?: string; note?: ReactNode }) {
  return (
    <div className="min-w-0">
      <p className="text-xs text-muted">{name}</p>
      <p className="tnum mt-0.5 text-xl font-semibold tracking-tight">
        {value}
        {unit && <span className="ml-1 text-sm font-normal text-muted">{unit}</span>}
      </p>
      {note && <p className="text-xs text-muted">{note}</p>}
    </div>
  );
}
