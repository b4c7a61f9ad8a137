import { useId } from "react";

import { cx } from "@/ui/classes";
import { formatDate, formatTime } from "@/ui/format";

interface Props {
  times: string[];
  /** From 0, the first change, to the number of changes: now. */
  position: number;
  onMove: (position: number) => void;
}

/** A slider over the changes of an entity, with the changes on a time line above it. */
export function TimeSlider({ times, position, onMove }: Props) {
  const id = useId();
  return (
    <div>
      <label htmlFor={id} className="sr-only">
        Time of the state
      </label>
      {/* The thumb of the slider is 16 px wide: its middle moves from 8 px to 8 px before the end. */}
      <div aria-hidden className="relative mx-2 h-5">
        <div className="absolute inset-x-0 top-2 h-px bg-line-strong" />
        {[...times, "now"].map((time, index) => (
          <span
            key={time}
            title={time === "now" ? "now" : formatTime(time)}
            className={cx("absolute top-0.5 -ml-1.5 size-3 rounded-full border-2 border-panel", index <= position ? "bg-s1" : "bg-line-strong")}
            style={{ left: `${(index / times.length) * 100}%` }}
          />
        ))}
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
        <span>now</span>
      </p>
    </div>
  );
}
