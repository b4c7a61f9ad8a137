import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";

import { lettersQuery, type Letter, type LetterFilter } from "@/api/letters";
import { hasRole, usePrincipal } from "@/api/session";
import { useTenant } from "@/shell/tenant";
import { SelectField } from "@/ui/Field";
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
  const { stage, reason, state = "open", letter } = route.useSearch();
  const navigate = route.useNavigate();
  const filter: LetterFilter = { stage, reason, state, tenant };
  // The choices of the filter come from all letters of the state.
  const all = useQuery(lettersQuery(principal, { state, tenant }));
  const query = useQuery(lettersQuery(principal, filter));
  const set = (name: string, value: string | undefined) => void navigate({ search: (before) => ({ ...before, [name]: value || undefined }) });
  const choices = (pick: (each: Letter) => string, any: string) => [
    { value: "", label: any },
    ...[...new Set(all.data?.dead_letters.map(pick))].sort().map((value) => ({ value, label: value })),
  ];
  return (
    <>
      <div className="grid grid-cols-2 gap-3 sm:flex">
        <SelectField label="State" className="sm:w-36" options={STATES} value={state} onChange={(event) => set("state", event.target.value)} />
        <SelectField label="Stage" className="sm:w-44" options={choices((each) => each.stage, "Any stage")} value={stage ?? ""} onChange={(event) => set("stage", event.target.value)} />
        <SelectField label="Reason" className="col-span-2 sm:w-56" options={choices((each) => each.reason, "Any reason")} value={reason ?? ""} onChange={(event) => set("reason", event.target.value)} />
      </div>
      <QueryState query={query} isEmpty={(data) => data.dead_letters.length === 0} empty={<NoLetters state={state} />}>
        {(data) => (
          <Chosen
            key={data.dead_letters.map((each) => each.place).join()}
            letters={data.dead_letters}
            total={data.total}
            mayChange={state === "open" && (principal.kind === "tenant" || hasRole(principal, "operator"))}
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
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  return (
    <Panel
      title="Dead letters"
      note={total > letters.length ? `the oldest ${letters.length} of ${total}` : `${total}, oldest first`}
      actions={mayChange && <LetterActions places={chosen.size > 0 ? [...chosen] : letters.map((each) => each.place)} isChoice={chosen.size > 0} />}
      flush
    >
      <LetterTable letters={letters} chosen={mayChange ? chosen : null} onChoose={setChosen} selected={selected} onOpen={onOpen} />
    </Panel>
  );
}

function NoLetters({ state }: { state: string }) {
  return (
    <Panel>
      <Empty title={`No ${state} dead letter`}>{state === "open" ? "Every record was processed." : "Choose another state above."}</Empty>
    </Panel>
  );
}
