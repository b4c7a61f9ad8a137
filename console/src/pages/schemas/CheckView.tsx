import type { UseQueryResult } from "@tanstack/react-query";
import { CircleCheck, CircleX } from "lucide-react";

import type { Check } from "@/api/schemas";
import { Badges } from "@/ui/Badge";
import { Facts } from "@/ui/Facts";
import { ErrorNote } from "@/ui/states";

import type { Parsed } from "./draft";

interface Props {
  parsed: Parsed;
  check: UseQueryResult<Check>;
  /** The line of a path of the checked document. Null: the path is of another document. */
  lineOf: (path: string) => number | null;
  onGoTo: (line: number) => void;
}

/** The outcome of the check: what is wrong and where, or what the document defines. */
export function CheckView({ parsed, check, lineOf, onGoTo }: Props) {
  if (parsed.error !== null) return <Problem path="" message={parsed.error.message} line={parsed.error.line} onGoTo={onGoTo} />;
  if (check.isError) return <ErrorNote error={check.error} onRetry={() => void check.refetch()} />;
  if (check.data === undefined) return <p className="text-sm text-muted">Checking …</p>;
  const problems = check.data.problems;
  if (!check.data.valid) {
    return (
      <div className="space-y-2">
        {problems.map((problem) => (
          <Problem key={problem.path} path={problem.path} message={problem.message} line={lineOf(problem.path)} onGoTo={onGoTo} />
        ))}
      </div>
    );
  }
  return (
    <div className="space-y-3">
      <p className="flex items-center gap-2 text-sm text-good">
        <CircleCheck aria-hidden className="size-4" /> The schema is valid.
      </p>
      <Facts
        items={[
          ["Name", check.data.name],
          ["Event types", <Names key="events" names={check.data.event_types} />],
          ["Entity types", <Names key="entities" names={check.data.entity_types} />],
          ["Prompt", check.data.prompt_tokens !== null && `about ${check.data.prompt_tokens} tokens, which providers cache`],
        ]}
      />
    </div>
  );
}

function Names({ names }: { names: string[] }) {
  return names.length === 0 ? <span className="text-muted">none</span> : <Badges names={names} />;
}

interface ProblemProps {
  path: string;
  message: string;
  line: number | null;
  onGoTo: (line: number) => void;
}

function Problem({ path, message, line, onGoTo }: ProblemProps) {
  return (
    <div className="flex gap-2 rounded-md bg-bad-soft px-3 py-2 text-sm text-bad">
      <CircleX aria-hidden className="mt-0.5 size-4 shrink-0" />
      <div className="min-w-0">
        {path && <p className="font-mono text-xs">{path}</p>}
        <p>{message}</p>
        {line !== null && (
          <button type="button" className="text-xs underline" onClick={() => onGoTo(line)}>
            Go to line {line}
          </button>
        )}
      </div>
    </div>
  );
}
