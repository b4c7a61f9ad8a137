import type { Recalled } from "@/api/recall";
import { Badge } from "@/ui/Badge";
import { Figure } from "@/ui/Facts";
import { formatScore, inWords } from "@/ui/format";

/** Parts of a recall whose names say little. They were late, failed, or are not configured. */
const PARTS: Record<string, string> = { sift: "ranking of sessions by a model", expansion: "expansion of the query by a model", topics: "topics chosen by a model", session_tail: "messages of the open window" };

export function Summary({ recalled }: { recalled: Recalled }) {
  const { confidence, degraded } = recalled;
  return (
    <section aria-label="Summary" className="grid grid-cols-2 gap-4 rounded-lg border bg-panel p-4 sm:grid-cols-4">
      <div className="min-w-0">
        <Figure name="Confidence" value={confidence === null ? "–" : formatScore(confidence)} note={confidence === null ? "not estimated" : "that the results answer it"} />
        {confidence !== null && <Meter share={confidence} />}
      </div>
      <Figure name="Time" value={recalled.ms} unit="ms" />
      <Figure name="Results" value={recalled.results.length} note={`of ${recalled.candidates?.length ?? 0} candidates`} />
      <div>
        <p className="text-xs text-muted" title="Late, failed, or not configured">Missing parts</p>
        <p className="mt-1 flex flex-wrap gap-1">
          {degraded.length === 0 ? <Badge tone="good">none</Badge> : degraded.map((part) => <Badge key={part} tone="warn">{PARTS[part] ?? inWords(part)}</Badge>)}
        </p>
      </div>
    </section>
  );
}

function Meter({ share }: { share: number }) {
  return (
    <div aria-hidden className="mt-1.5 h-1.5 max-w-40 overflow-hidden rounded-full bg-raised">
      <div className="h-full rounded-full bg-s1" style={{ width: `${Math.max(share, 0.01) * 100}%` }} />
    </div>
  );
}
