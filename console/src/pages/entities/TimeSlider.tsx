import { useId } from "react";

import { cx } from "@/ui/classes";
import { formatDate, formatTime } from "@/ui/format";

import { sharesOf } from "./moments";

interface Props {
  times: string[];
  /** From 0, the first change, to the number of changes: now. */
  position: number;
  onMove: (position: number) => void;
}

/** A slider over the changes of an entity, with the changes on a time line above it. */
export function TimeSlider({ times, position, onMove }: Props) {
  const id = useId();
  const shares = sharesOf(times);
  return (
    <div>
      <label htmlFor={id} className="sr-only">
        Time of the state
      </label>
      <div aria-hidden className="relative mx-2 h-6">
        <div className="absolute inset-x-0 top-3 h-px bg-line-strong" />
        {times.map((time, index) => (
          <span
            key={time}
            title={formatTime(time)}
            className={cx("absolute top-1.5 -ml-1.5 size-3 rounded-full border-2 border-panel", index <= position ? "bg-s1" : "bg-line-strong", index === position && "ring-2 ring-accent")}
            style={{ left: `${(shares[index] ?? 0) * 94}%` }}
          />
        ))}
        <span className={cx("absolute top-1.5 right-0 size-3 rounded-sm", position >= times.length ? "bg-s1 ring-2 ring-accent" : "bg-line-strong")} />
      </div>
      <input
        id={id}
        type="range"
        className="w-full"
        min={0}
        max={times.length}
        step={1}
        value={position}
        aria-valuetext={times[position] === undefined ? "now" : formatTime(times[position])}
        onChange={(event) => onMove(Number(event.target.value))}
      />
      <p aria-hidden className="flex justify-between text-xs text-muted">
        <span>{formatDate(times[0] ?? "")}</span>
        <span>{times.length > 1 && formatDate(times.at(-1) ?? "")}</span>
        <span>now</span>
      </p>
    </div>
  );
}
