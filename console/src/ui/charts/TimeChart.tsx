import { useState } from "react";

import { cx } from "../classes";
import { niceCeiling, seriesStyle } from "./scale";
import { useWidth } from "./useWidth";

export interface Series {
  name: string;
  values: (number | null)[];
}

interface Props {
  label: string;
  times: string[];
  series: Series[];
  formatValue: (value: number) => string;
  formatTime: (iso: string) => string;
  height?: number;
}

const LEFT = 44;
const BOTTOM = 20;
const TOP = 8;

/** Lines over time. The same numbers are in a table below, for readers without the picture. */
export function TimeChart({ label, times, series, formatValue, formatTime, height = 200 }: Props) {
  const [frame, width] = useWidth<HTMLDivElement>();
  const [pointed, setPointed] = useState<number | null>(null);
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const shown = series.filter((each) => !hidden.has(each.name));
  const top = niceCeiling(Math.max(0, ...shown.flatMap((each) => each.values.map((value) => value ?? 0))));
  const innerWidth = Math.max(width - LEFT - 8, 0);
  const innerHeight = height - TOP - BOTTOM;
  const x = (index: number) => LEFT + (times.length < 2 ? innerWidth / 2 : (index / (times.length - 1)) * innerWidth);
  const y = (value: number) => TOP + innerHeight - (value / top) * innerHeight;
  const at = pointed !== null && pointed < times.length ? pointed : null;

  const point = (clientX: number, left: number) => {
    const share = (clientX - left - LEFT) / Math.max(innerWidth, 1);
    setPointed(Math.max(0, Math.min(times.length - 1, Math.round(share * (times.length - 1)))));
  };
  const toggle = (name: string) => {
    const next = new Set(hidden);
    if (!next.delete(name)) next.add(name);
    setHidden(next);
  };

  return (
    <figure aria-label={label} className="min-w-0">
      <div ref={frame} className="relative">
        <svg
          width={width}
          height={height}
          aria-hidden
          className="block"
          onPointerMove={(event) => point(event.clientX, event.currentTarget.getBoundingClientRect().left)}
          onPointerLeave={() => setPointed(null)}
        >
          {[0, 0.5, 1].map((share) => (
            <g key={share}>
              <line x1={LEFT} x2={width} y1={y(top * share)} y2={y(top * share)} className="stroke-line" />
              <text x={LEFT - 6} y={y(top * share) + 4} textAnchor="end" className="fill-muted text-2xs">
                {formatValue(top * share)}
              </text>
            </g>
          ))}
          {times.length > 1 &&
            [0, times.length - 1].map((index) => (
              <text key={index} x={x(index)} y={height - 4} textAnchor={index === 0 ? "start" : "end"} className="fill-muted text-2xs">
                {formatTime(times[index] ?? "")}
              </text>
            ))}
          {series.map((each, index) =>
            hidden.has(each.name) ? null : (
              <path key={each.name} d={path(each.values, x, y)} fill="none" strokeWidth={1.75} strokeDasharray={seriesStyle(index).dash} strokeLinejoin="round" className={seriesStyle(index).stroke} />
            ),
          )}
          {times.length === 1 &&
            series.map((each, index) => {
              const value = each.values[0];
              return value == null || hidden.has(each.name) ? null : <circle key={each.name} cx={x(0)} cy={y(value)} r={3} className={seriesStyle(index).fill} />;
            })}
          {at !== null && <line x1={x(at)} x2={x(at)} y1={TOP} y2={TOP + innerHeight} className="stroke-line-strong" />}
        </svg>
        {times.length === 0 && <p className="absolute inset-0 grid place-items-center text-sm text-muted">No data yet</p>}
      </div>
      <figcaption className="mt-1 flex flex-wrap items-center gap-x-3 gap-y-1 text-xs">
        {series.map((each, index) => {
          const value = at === null ? null : each.values[at];
          return (
            <button
              key={each.name}
              type="button"
              aria-pressed={!hidden.has(each.name)}
              onClick={() => toggle(each.name)}
              className={cx("inline-flex min-h-6 items-center gap-1.5", hidden.has(each.name) && "text-muted line-through")}
            >
              <svg aria-hidden width="20" height="4">
                <line x1="0" x2="20" y1="2" y2="2" strokeWidth={2} strokeDasharray={seriesStyle(index).dash} className={seriesStyle(index).stroke} />
              </svg>
              {each.name}
              {value != null && <span className="tnum text-muted">{formatValue(value)}</span>}
            </button>
          );
        })}
        {at !== null && <span className="tnum ml-auto text-muted">{formatTime(times[at] ?? "")}</span>}
      </figcaption>
    </figure>
  );
}

/** The line of a series, interrupted where a value is missing. */
function path(values: (number | null)[], x: (index: number) => number, y: (value: number) => number): string {
  let isDown = false;
  return values
    .map((value, index) => {
      if (value === null) {
        isDown = false;
        return "";
      }
      const command = `${isDown ? "L" : "M"}${x(index).toFixed(1)} ${y(value).toFixed(1)}`;
      isDown = true;
      return command;
    })
    .join("");
}
