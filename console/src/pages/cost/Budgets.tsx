import { useState } from "react";

import type { Budget } from "@/api/pipeline";
import { Badge } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { cx } from "@/ui/classes";
import { formatCount } from "@/ui/format";
import { Empty } from "@/ui/states";

import { formatCost } from "./groups";

/** So many budgets are shown at first, those nearest to their limit. */
const FEW = 5;

export function Budgets({ budgets, priced }: { budgets: Budget[]; priced: boolean }) {
  const [isWhole, setIsWhole] = useState(false);
  if (budgets.length === 0) return <Empty title="No tenant used a model in this period" />;
  const sorted = byUse(budgets);
  const shown = isWhole ? sorted : sorted.slice(0, FEW);
  return (
    <>
      <ul className="divide-y">
        {shown.map((budget) => (
          <Row key={budget.tenant} budget={budget} priced={priced} />
        ))}
      </ul>
      {shown.length < sorted.length && (
        <div className="border-t p-3 text-center">
          <Button size="small" onClick={() => setIsWhole(true)}>
            Show all {sorted.length} tenants
          </Button>
        </div>
      )}
    </>
  );
}

function Row({ budget, priced }: { budget: Budget; priced: boolean }) {
  return (
    <li className="grid gap-x-6 gap-y-2 px-4 py-3 sm:grid-cols-[14rem_repeat(auto-fit,minmax(12rem,1fr))]">
      <p className="min-w-0 text-sm">
        <span className="block truncate font-medium" title={budget.tenant}>{budget.tenant}</span>
        {hasHardLimit(budget) && (
          <span className="text-xs text-muted">{budget.policy === "offline" ? "Above the hard limit, rules extract without a model." : "Above the hard limit, windows wait until 00:00 UTC."}</span>
        )}
      </p>
      <Limit name="Tokens" used={budget.used_tokens} soft={budget.soft_tokens} hard={budget.hard_tokens} share={budget.reextraction_share} format={formatCount} />
      {priced && <Limit name="Cost" used={budget.used_cost} soft={budget.soft_cost} hard={budget.hard_cost} share={budget.reextraction_share} format={formatCost} />}
    </li>
  );
}

/** The share of the limit that is used. */
function shareOf(used: number | null, soft: number | null, hard: number | null): number {
  const full = hard ?? soft;
  if (used === null || full === null) return 0;
  return full > 0 ? used / full : 1;
}

/** The budgets that are nearest to their limit come first. */
function byUse(budgets: Budget[]): Budget[] {
  const share = (each: Budget) => Math.max(shareOf(each.used_tokens, each.soft_tokens, each.hard_tokens), shareOf(each.used_cost, each.soft_cost, each.hard_cost));
  return [...budgets].sort((left, right) => share(right) - share(left));
}

/** From this share of the hard limit on, it is worth a look. */
const NEAR = 0.8;

interface LimitProps {
  name: string;
  used: number | null;
  soft: number | null;
  hard: number | null;
  /** Share of the smaller limit at which re-extractions stop. */
  share: number;
  format: (value: number) => string;
}

const hasHardLimit = (budget: Budget) => budget.hard_tokens !== null || budget.hard_cost !== null;

function Limit({ name, used, soft, hard, share, format }: LimitProps) {
  const full = hard ?? soft;
  const limits = [soft, hard].filter((each) => each !== null);
  const filled = shareOf(used, soft, hard);
  const isOverSoft = used !== null && soft !== null && used >= soft;
  const isNearHard = hard !== null && filled >= NEAR;
  const isOverHard = used !== null && hard !== null && used >= hard;
  return (
    <div className="min-w-0 text-xs">
      <p className="flex flex-wrap items-center gap-x-2">
        <span className="text-muted">{name}</span>
        <span className="tnum font-medium">{used === null ? "unknown" : format(used)}</span>
        <span className="tnum text-muted">{full === null ? "no limit" : `of ${format(full)} (${Math.floor(filled * 100)} %)`}</span>
        {isOverHard ? (
          <Badge tone="bad">hard limit reached</Badge>
        ) : isNearHard ? (
          <Badge tone="warn">hard limit near</Badge>
        ) : (
          isOverSoft && <Badge tone="warn">soft limit reached</Badge>
        )}
      </p>
      {full !== null && (
        <div aria-hidden className="relative mt-1 h-2 overflow-hidden rounded-sm bg-raised">
          <div className={cx("h-full", isOverHard ? "bg-s6" : isOverSoft || isNearHard ? "bg-s2" : "bg-s1")} style={{ width: `${Math.min(filled, 1) * 100}%` }} />
          {hard !== null && soft !== null && hard > 0 && <div className="absolute inset-y-0 w-px bg-ink" style={{ left: `${Math.min(soft / hard, 1) * 100}%` }} />}
        </div>
      )}
      {limits.length > 0 && <p className="mt-1 text-muted">Re-extractions stop at {format(share * Math.min(...limits))}.</p>}
    </div>
  );
}
