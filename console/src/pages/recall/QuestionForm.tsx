import { getRouteApi } from "@tanstack/react-router";

import { usePrincipal } from "@/api/session";
import { Button } from "@/ui/Button";
import { SelectField, TextField } from "@/ui/Field";
import { useDraft } from "@/ui/useDraft";

const route = getRouteApi("/recall");

const MODES = [
  { value: "", label: "Default" },
  { value: "fast", label: "Fast: no model" },
  { value: "expand", label: "Expand the query" },
  { value: "sift", label: "Rank the sessions" },
];

const FIELDS = ["q", "user", "session", "mode", "limit", "why"] as const;
type Draft = Partial<Record<(typeof FIELDS)[number], string>>;

export function QuestionForm({ busy, onRepeat }: { busy: boolean; onRepeat: () => void }) {
  const search = route.useSearch();
  const { user } = usePrincipal();
  const navigate = route.useNavigate();
  const initial: Draft = Object.fromEntries(FIELDS.map((name) => [name, search[name]]));
  const [draft, setDraft] = useDraft<Draft>({ ...initial, user: user ?? initial.user });
  const field = (name: keyof Draft) => ({
    value: draft[name] ?? "",
    onChange: (event: { target: { value: string } }) => setDraft({ ...draft, [name]: event.target.value }),
  });
  const submit = () => {
    const next = Object.fromEntries(FIELDS.map((name) => [name, draft[name]?.trim() || undefined])) as Draft;
    if (FIELDS.every((name) => next[name] === initial[name])) onRepeat();
    else void navigate({ search: () => next });
  };
  return (
    <form
      className="grid grid-cols-2 gap-3 lg:grid-cols-[3fr_1fr_1fr_1.2fr_5rem]"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <TextField label="Question" required className="col-span-2 lg:col-span-1" {...field("q")} />
      <TextField label="User" disabled={user !== null} {...field("user")} />
      <TextField label="Session" {...field("session")} />
      <SelectField label="Mode" options={MODES} {...field("mode")} />
      <TextField label="Limit" type="number" min={1} max={1000} placeholder="10" {...field("limit")} />
      <TextField
        label="Why not: ids of messages or memories"
        hint="Explains why each of them is not among the results. Message ids are those of the session above, if one is given."
        className="col-span-2 lg:col-span-4"
        {...field("why")}
      />
      <div className="col-span-2 flex items-start justify-end lg:col-span-1 lg:pt-5">
        <Button type="submit" tone="primary" busy={busy} className="w-full">
          Recall
        </Button>
      </div>
    </form>
  );
}
