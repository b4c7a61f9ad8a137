import type { WhyNot } from "@/api/recall";
import { Badge } from "@/ui/Badge";
import { Facts } from "@/ui/Facts";
import { formatScore, inWords } from "@/ui/format";
import { Empty } from "@/ui/states";

import { MemoryLink } from "../memories/MemoryLink";
import { outcomeOf } from "./outcomes";

export function WhyNotList({ answers }: { answers: WhyNot[] }) {
  if (answers.length === 0) return <Empty title="Nothing was asked for">Enter the id of a message or a memory under “Why not” in the form.</Empty>;
  return (
    <ul aria-label="Why not" className="divide-y">
      {answers.map((answer) => (
        <Answer key={answer.id} answer={answer} />
      ))}
    </ul>
  );
}

function Answer({ answer }: { answer: WhyNot }) {
  const { text, tone } = outcomeOf(answer.outcome);
  return (
    <li className="space-y-2 px-4 py-3">
      <p className="flex flex-wrap items-center gap-2 text-sm">
        <code className="font-mono text-xs">{answer.id}</code>
        {answer.what && <span className="text-muted">{answer.what}</span>}
        <Badge tone={tone}>{inWords(answer.outcome)}</Badge>
      </p>
      <p className="text-sm">{text}</p>
      <Facts
        items={[
          ["Excluded by", answer.filter && <code className="font-mono text-xs">{answer.filter}</code>],
          ["Memory", answer.memory && <MemoryLink id={answer.memory} />],
          ["Returned instead", answer.of && <MemoryLink id={answer.of} />],
          ["Rank", answer.rank],
          ["Score", answer.score !== null && formatScore(answer.score)],
          ["Used by", answer.used_by && answer.used_by.length > 0 && answer.used_by.map((use) => `${use.type}${use.property ? `: ${use.property}` : ""}`).join(", ")],
        ]}
      />
    </li>
  );
}
