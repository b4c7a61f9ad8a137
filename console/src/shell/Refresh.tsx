import { useIsFetching, useQueryClient, type Query } from "@tanstack/react-query";
import { RotateCw } from "lucide-react";

import { cx } from "@/ui/classes";

/** A recall is not repeated: it counts, and a model may be asked. */
const ONCE = new Set(["recall", "context", "schema-check", "session"]);

const isRead = (query: Query) => !ONCE.has(String(query.queryKey[0]));

/** Reads again what the page shows. */
export function Refresh() {
  const client = useQueryClient();
  const isReading = useIsFetching({ predicate: isRead }) > 0;
  return (
    <button
      type="button"
      aria-label="Refresh"
      title="Refresh"
      className="rounded-md p-2 text-muted hover:bg-raised hover:text-ink"
      onClick={() => void client.invalidateQueries({ predicate: isRead })}
    >
      <RotateCw aria-hidden className={cx("size-4", isReading && "opacity-40")} />
    </button>
  );
}
