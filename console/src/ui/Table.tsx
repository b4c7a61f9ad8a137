import { useState, type ReactNode } from "react";

import { Button } from "./Button";
import { cx } from "./classes";
import { formatCount } from "./format";

export interface Column<Row> {
  key: string;
  title: string;
  cell: (row: Row) => ReactNode;
  align?: "right";
  /** Hidden below 640 px. */
  wide?: boolean;
  className?: string;
}

interface Props<Row> {
  caption: string;
  columns: Column<Row>[];
  rows: Row[];
  rowKey: (row: Row) => string;
  selected?: string | null;
  /** Rows that are shown before a button shows as many more. Default: all. */
  step?: number;
}

/** A table that scrolls sideways when it does not fit. Words stay whole: a cell with texts of any length breaks them itself. */
export function Table<Row>({ caption, columns, rows, rowKey, selected, step = Infinity }: Props<Row>) {
  const [limit, setLimit] = useState(step);
  const shown = rows.slice(0, limit);
  const table = (
    // A region that scrolls has to be reachable with the keyboard.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className="relative overflow-x-auto" role="region" aria-label={caption} tabIndex={0}>
      <table className="w-full border-collapse text-sm">
        <caption className="sr-only">{caption}</caption>
        <thead>
          <tr className="border-b">
            {columns.map((column) => (
              <th
                key={column.key}
                scope="col"
                className={cx("px-4 py-2 text-left text-xs font-medium whitespace-nowrap text-muted", column.align === "right" && "text-right", column.wide && "hidden sm:table-cell")}
              >
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => {
            const key = rowKey(row);
            return (
              <tr key={key} className={cx("border-b last:border-b-0 hover:bg-raised/60", selected === key && "bg-accent-soft hover:bg-accent-soft")}>
                {columns.map((column) => (
                  <td key={column.key} className={cx("px-4 py-2 align-top [overflow-wrap:break-word]", column.align === "right" && "tnum text-right whitespace-nowrap", column.wide && "hidden sm:table-cell", column.className)}>
                    {column.cell(row)}
                  </td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
  if (shown.length === rows.length) return table;
  return (
    <>
      {table}
      <div className="border-t p-3 text-center">
        <Button onClick={() => setLimit(limit + step)}>
          Show {formatCount(Math.min(step, rows.length - limit))} more of {formatCount(rows.length)}
        </Button>
      </div>
    </>
  );
}
