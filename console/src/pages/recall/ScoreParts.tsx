import { Bar } from "@/ui/Bar";
import { formatScore, inWords } from "@/ui/format";

import { MEANINGS, type PartGroup } from "./parts";

const TONES: Record<PartGroup["key"], string> = { search: "bg-s3", ranking: "bg-s1", score: "bg-s2", other: "bg-s4" };

interface Props {
  parts: Record<string, number>;
  ranks: Record<string, number>;
  groups: PartGroup[];
  scale: Record<string, number>;
}

/** The parts of a group that a result has. Terms of the ranker: the largest first, without those that change nothing. */
function shownOf(group: PartGroup, parts: Record<string, number>): string[] {
  const found = group.parts.filter((name) => parts[name] !== undefined);
  if (group.key !== "ranking") return found;
  const size = (name: string) => Math.abs(parts[name] ?? 0);
  return found.filter((name) => size(name) > 0).sort((left, right) => size(right) - size(left));
}

function Zeros({ count }: { count: number }) {
  if (count === 0) return null;
  return <p className="mt-1.5 text-2xs text-muted">{count === 1 ? "One further term is 0." : `${count} further terms are 0.`}</p>;
}

/** The parts of one result's score, as bars. */
export function ScoreParts({ parts, ranks, groups, scale }: Props) {
  return (
    <div className="grid gap-x-6 gap-y-4 md:grid-cols-2">
      {groups.map((group) => (
        <section key={group.key} className={group.key === "ranking" ? "md:row-span-3" : undefined}>
          <h4 className="text-xs font-semibold">{group.title}</h4>
          <p className="mb-1.5 text-2xs text-muted">{group.note}</p>
          <ul className="space-y-1">
            {shownOf(group, parts).map((name) => (
              <li key={name} className="grid grid-cols-[minmax(0,1fr)_minmax(3rem,6rem)_auto] items-center gap-2 text-xs">
                <span className="truncate text-muted" title={name}>
                  {MEANINGS[name] ?? inWords(name)}
                </span>
                <Bar value={parts[name] ?? 0} scale={scale[name] ?? 0} signed={group.key === "ranking" || group.key === "other"} tone={TONES[group.key]} />
                <span className="tnum w-17 text-right whitespace-nowrap">
                  {formatScore(parts[name] ?? 0)}
                  {ranks[name] !== undefined && <span className="text-muted"> #{ranks[name]}</span>}
                </span>
              </li>
            ))}
          </ul>
          {group.key === "ranking" && <Zeros count={group.parts.filter((name) => parts[name] === 0).length} />}
        </section>
      ))}
    </div>
  );
}
