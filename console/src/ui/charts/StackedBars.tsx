import { cx } from "../classes";
import { niceCeiling, seriesStyle } from "./scale";
import { useWidth } from "./useWidth";

interface Props {
  label: string;
  columns: string[];
  series: { name: string; values: number[] }[];
  formatValue: (value: number) => string;
  formatColumn: (name: string) => string;
  height?: number;
}

const LEFT = 52;
const BOTTOM = 20;
const TOP = 18;

/** Stacked bars, one for each column. Screen readers read the same numbers from a table. */
export function StackedBars({ label, columns, series, formatValue, formatColumn, height = 200 }: Props) {
  const [frame, width] = useWidth<HTMLDivElement>();
  const sums = columns.map((_, column) => series.reduce((sum, each) => sum + (each.values[column] ?? 0), 0));
  const top = niceCeiling(Math.max(0, ...sums));
  const innerHeight = height - TOP - BOTTOM;
  const slot = Math.max(width - LEFT, 0) / Math.max(columns.length, 1);
  const bar = Math.min(slot * 0.7, 48);
  const scaled = (value: number) => (value / top) * innerHeight;
  return (
    <figure aria-label={label} className="min-w-0">
      <div ref={frame}>
        <svg width={width} height={height} aria-hidden className="block">
          {[0, 0.5, 1].map((share) => (
            <g key={share}>
              <line x1={LEFT} x2={width} y1={TOP + innerHeight * (1 - share)} y2={TOP + innerHeight * (1 - share)} className="stroke-line" />
              <text x={LEFT - 6} y={TOP + innerHeight * (1 - share) + 4} textAnchor="end" className="fill-muted text-2xs">
                {formatValue(top * share)}
              </text>
            </g>
          ))}
          {columns.map((name, column) => {
            let base = 0;
            const left = LEFT + slot * column + (slot - bar) / 2;
            return (
              <g key={name}>
                {columns.length <= 8 && (sums[column] ?? 0) > 0 && (
                  <text x={left + bar / 2} y={TOP + innerHeight - scaled(sums[column] ?? 0) - 4} textAnchor="middle" className="fill-ink text-2xs">
                    {formatValue(sums[column] ?? 0)}
                  </text>
                )}
                {series.map((each, index) => {
                  const size = scaled(each.values[column] ?? 0);
                  base += size;
                  return (
                    <rect key={each.name} x={left} y={TOP + innerHeight - base} width={bar} height={size} className={seriesStyle(index).fill}>
                      <title>{`${formatColumn(name)}, ${each.name}: ${formatValue(each.values[column] ?? 0)}`}</title>
                    </rect>
                  );
                })}
                {(columns.length <= 8 || column % Math.ceil(columns.length / 6) === 0) && (
                  <text x={left + bar / 2} y={height - 4} textAnchor="middle" className="fill-muted text-2xs">
                    {formatColumn(name)}
                  </text>
                )}
              </g>
            );
          })}
        </svg>
      </div>
      {/* A table itself would not become as narrow as a hidden box has to be. */}
      <div className="sr-only">
        <table>
          <caption>{label}</caption>
          <thead>
            <tr>
              <th scope="col">Column</th>
              {series.map((each) => (
                <th key={each.name} scope="col">
                  {each.name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {columns.map((name, column) => (
              <tr key={name}>
                <th scope="row">{formatColumn(name)}</th>
                {series.map((each) => (
                  <td key={each.name}>{formatValue(each.values[column] ?? 0)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <figcaption className="mt-1 flex flex-wrap gap-x-3 gap-y-1 text-xs">
        {series.map((each, index) => (
          <span key={each.name} className="inline-flex items-center gap-1.5">
            <span aria-hidden className={cx("size-2.5 rounded-sm", seriesStyle(index).swatch)} />
            {each.name}
          </span>
        ))}
      </figcaption>
    </figure>
  );
}
