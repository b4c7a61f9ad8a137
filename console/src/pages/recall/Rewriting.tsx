import { Link } from "@tanstack/react-router";

import type { Recalled } from "@/api/recall";
import { counted } from "@/ui/format";
import { Panel } from "@/ui/Panel";

/** What a model added to the recall: the sentences that were searched as well, or the ranking of sessions. */
export function Rewriting({ recalled }: { recalled: Recalled }) {
  return (
    <>
      {recalled.expansion && recalled.expansion.length > 0 && (
        <Panel title="Expansion" note="sentences that were searched in addition to the question">
          <ul className="list-disc space-y-1 pl-5 text-sm">
            {recalled.expansion.map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
        </Panel>
      )}
      {recalled.sift && <Sessions sift={recalled.sift} />}
    </>
  );
}

function Sessions({ sift }: { sift: NonNullable<Recalled["sift"]> }) {
  const byModel = sift.sessions.length - sift.completed;
  return (
    <Panel title="Ranked sessions" note={`the model read ${counted(sift.shown, "session")}${sift.left_out > 0 ? `; ${sift.left_out} did not fit` : ""}`}>
      <ol aria-label="Ranked sessions" className="list-decimal space-y-1 pl-5 text-sm">
        {sift.sessions.map(({ session, user }, index) => (
          <li key={`${user ?? ""}/${session}`}>
            <Link to="/sessions" search={{ session }} className="break-all hover:text-accent hover:underline">
              {session}
            </Link>
            {index >= byModel && <span className="text-xs text-muted"> added by the recall: the model ranked too few</span>}
          </li>
        ))}
      </ol>
      {sift.thought && (
        <details className="mt-3">
          <summary className="text-xs text-muted hover:text-ink">Reasoning of the model</summary>
          <p className="mt-2 text-sm whitespace-pre-line">{sift.thought}</p>
        </details>
      )}
    </Panel>
  );
}
