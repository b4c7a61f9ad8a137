import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";

import { lettersQuery, maySettle, type Letter, type LetterFilter } from "@/api/letters";
import { usePrincipal } from "@/api/session";
import { useTenant } from "@/shell/tenant";
import { SelectField } from "@/ui/Field";
import { inWords } from "@/ui/format";
import { PageHeader, Panel } from "@/ui/Panel";
import { Empty, NotForYou, QueryState } from "@/ui/states";

import { LetterActions } from "./LetterActions";
import { LetterDialog } from "./LetterDialog";
import { LetterTable } from "./LetterTable";

const route = getRouteApi("/dead-letters");

const STATES = [
  { value: "open", label: "Open" },
  { value: "redriven", label: "Redriven" },
  { value: "superseded", label: "Superseded" },
];

const PERIODS = [
  { value: "", label: "At any time" },
  { value: "1", label: "In the last hour" },
  { value: "24", label: "In the last day" },
  { value: "168", label: "In the last week" },
];

/** The values of the letters with their numbers, the most frequent first. */
function counts(letters: Letter[], pick: (each: Letter) => string): { value: string; label: string }[] {
  const found = new Map<string, number>();
  for (const each of letters) found.set(pick(each), (found.get(pick(each)) ?? 0) + 1);
  return [...found].sort((left, right) => right[1] - left[1]).map(([value, count]) => ({ value, label: `${inWords(value)} (${count})` }));
}

export function LettersPage() {
  const principal = usePrincipal();
  return (
    <>
      <PageHeader title="Dead letters" purpose="Records that no stage could process. They are unchanged, and can be sent to their stage again when the cause is removed." />
      {principal.user === null ? <Letters /> : <NotForYou title="Your key is bound to a user">Dead letters belong to the whole tenant.</NotForYou>}
    </>
  );
}

function Letters() {
  const principal = usePrincipal();
  const tenant = useTenant();
  const { stage, reason, state = "open", since, letter } = route.useSearch();
  const navigate = route.useNavigate();
  const filter: LetterFilter = { stage, reason, state, since, tenant };
  // The choices of the filter come from all letters of the state.
  const all = useQuery(lettersQuery(principal, { state, since, tenant }));
  const query = useQuery(lettersQuery(principal, filter));
  const set = (name: string, value: string | undefined) => void navigate({ search: (before) => ({ ...before, [name]: value || undefined }) });
  const choices = (pick: (each: Letter) => string, any: string) => [{ value: "", label: any }, ...counts(all.data?.dead_letters ?? [], pick)];
  return (
    <>
      <div className="grid grid-cols-2 gap-3 sm:flex">
        <SelectField label="State" className="sm:w-36" options={STATES} value={state} onChange={(event) => set("state", event.target.value)} />
        <SelectField label="Failed" className="sm:w-40" options={PERIODS} value={since ?? ""} onChange={(event) => set("since", event.target.value)} />
        <SelectField label="Stage" className="sm:w-44" options={choices((each) => each.stage, "Any stage")} value={stage ?? ""} onChange={(event) => set("stage", event.target.value)} />
        <SelectField label="Reason" className="col-span-2 sm:w-56" options={choices((each) => each.reason, "Any reason")} value={reason ?? ""} onChange={(event) => set("reason", event.target.value)} />
      </div>
      <QueryState query={query} isEmpty={(data) => data.dead_letters.length === 0} empty={<NoLetters state={state} isFiltered={[stage, reason, since].some(Boolean)} />}>
        {(data) => (
          <Chosen
            letters={data.dead_letters}
            total={data.total}
            mayChange={state === "open" && maySettle(principal)}
            selected={letter}
            onOpen={(place) => set("letter", place)}
          />
        )}
      </QueryState>
      {letter && <LetterDialog place={letter} onClose={() => set("letter", undefined)} />}
    </>
  );
}

interface ChosenProps {
  letters: Letter[];
  total: number;
  mayChange: boolean;
  selected: string | undefined;
  onOpen: (place: string) => void;
}

function Chosen({ letters, total, mayChange, selected, onOpen }: ChosenProps) {
  const [selection, setChosen] = useState<ReadonlySet<string>>(new Set());
  // A letter that is no longer shown is no longer chosen.
  const chosen = new Set(letters.map((each) => each.place).filter((place) => selection.has(place)));
  return (
    <Panel
      title="Dead letters"
      note={total > letters.length ? `the oldest ${letters.length} of ${total}` : `${total}, oldest first`}
      actions={mayChange && <LetterActions places={chosen.size > 0 ? [...chosen] : letters.map((each) => each.place)} which={chosen.size > 0 ? `${chosen.size} chosen` : "all shown"} />}
      flush
    >
      <LetterTable letters={letters} chosen={mayChange ? chosen : null} onChoose={setChosen} selected={selected} onOpen={onOpen} />
    </Panel>
  );
}

function NoLetters({ state, isFiltered }: { state: string; isFiltered: boolean }) {
  return (
    <Panel>
      <Empty title={`No ${state} dead letter`}>{isFiltered ? "No letter matches the choices above." : state === "open" ? "Every record was processed, or still waits." : "Choose another state above."}</Empty>
    </Panel>
  );
}
