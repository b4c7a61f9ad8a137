import { useQuery } from "@tanstack/react-query";

import { letterQuery, maySettle, type LetterContent } from "@/api/letters";
import { usePrincipal } from "@/api/session";
import { Badge } from "@/ui/Badge";
import { Dialog } from "@/ui/Dialog";
import { Facts } from "@/ui/Facts";
import { formatBytes, inWords } from "@/ui/format";
import { Json } from "@/ui/Json";
import { Ago } from "@/ui/Moment";
import { QueryState } from "@/ui/states";

import { LetterActions } from "./LetterActions";
import { meaningOf } from "./reasons";

export function LetterDialog({ place, onClose }: { place: string; onClose: () => void }) {
  const query = useQuery(letterQuery(usePrincipal(), place));
  return (
    <Dialog title={`Dead letter ${place}`} shape="sheet" onClose={onClose}>
      <QueryState query={query}>{(letter) => <Content letter={letter} />}</QueryState>
    </Dialog>
  );
}

function Content({ letter }: { letter: LetterContent }) {
  const isOpen = letter.state === "open";
  const mayChange = maySettle(usePrincipal());
  return (
    <div className="space-y-5">
      <div>
        <p className="text-base font-medium">{inWords(letter.reason)}</p>
        <p className="text-sm break-words">{letter.detail}</p>
        {isOpen && <p className="mt-1 text-sm text-muted">{meaningOf(letter.reason)}</p>}
      </div>
      {isOpen && mayChange && (
        <div className="flex flex-wrap gap-2">
          <LetterActions places={[letter.place]} />
        </div>
      )}
      <Facts
        items={[
          ["State", <Badge key="state" tone={isOpen ? "warn" : "neutral"}>{letter.state}</Badge>],
          ["Stage", letter.stage],
          ["Tenant", letter.tenant],
          ["Record", <code key="record" className="font-mono text-xs">{`${letter.topic} ${letter.partition}/${letter.offset}`}</code>],
          ["Key", <code key="key" className="font-mono text-xs">{letter.key}</code>],
          ["Size", `${formatBytes(letter.size)}${letter.parts > 1 ? ` in ${letter.parts} parts` : ""}`],
          ["Attempts", letter.tries],
          ["First failure", <Ago key="first" at={letter.first_time} full />],
          ["Last failure", <Ago key="last" at={letter.last_time} full />],
          ["Settled", letter.settled_at && <Ago at={letter.settled_at} full />],
        ]}
      />
      <Part title="Record" label="The record" text={letter.value} />
      {letter.answer && <Part title="Reply of the model" label="The reply of the model" text={letter.answer} />}
      {letter.headers.length > 0 && (
        <details>
          <summary className="text-xs text-muted hover:text-ink">{letter.headers.length} headers</summary>
          <div className="pt-2">
            <Facts items={letter.headers.map(([name, value]) => [name, value])} />
          </div>
        </details>
      )}
    </div>
  );
}

function Part({ title, label, text }: { title: string; label: string; text: string | null }) {
  return (
    <section>
      <h3 className="mb-2 text-xs font-semibold text-muted">{title}</h3>
      {text === null ? <p className="text-sm text-muted">It has no content.</p> : <Json label={label} value={parsed(text)} />}
    </section>
  );
}

/** The text as JSON if it is JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
