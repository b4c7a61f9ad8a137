import { getRouteApi } from "@tanstack/react-router";

import { Button } from "@/ui/Button";
import { SelectField, TextField } from "@/ui/Field";
import { SearchForm } from "@/ui/SearchForm";
import { useDraft } from "@/ui/useDraft";

const route = getRouteApi("/memories");

const KINDS = [
  { value: "", label: "Any kind" },
  { value: "event", label: "Events" },
  { value: "entity", label: "Entities" },
  { value: "summary", label: "Summaries" },
  { value: "segment", label: "Segments" },
];

const FIELDS = ["q", "user", "session", "kind", "type", "since", "until"] as const;
type Draft = Partial<Record<(typeof FIELDS)[number], string>>;

export function Filters() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [draft, setDraft] = useDraft<Draft>(Object.fromEntries(FIELDS.map((name) => [name, search[name]])));
  const field = (name: keyof Draft) => ({
    value: draft[name] ?? "",
    onChange: (event: { target: { value: string } }) => setDraft({ ...draft, [name]: event.target.value }),
  });
  const apply = (next: Draft) => void navigate({ search: () => Object.fromEntries(FIELDS.map((name) => [name, next[name]?.trim() || undefined])) });
  return (
    <SearchForm className="grid grid-cols-2 gap-3 md:grid-cols-4 xl:grid-cols-[2fr_1fr_1fr_1fr_1fr_auto]" onSearch={() => apply(draft)}>
      <TextField label="Search for" type="search" className="col-span-2 md:col-span-4 xl:col-span-1" placeholder="A question or words" {...field("q")} />
      <TextField label="User" {...field("user")} />
      <TextField label="Session" {...field("session")} />
      <SelectField label="Kind" options={KINDS} {...field("kind")} />
      <TextField label="Type" placeholder="life_event" {...field("type")} />
      <TextField label="From day" type="date" {...field("since")} />
      <TextField label="Before day" type="date" {...field("until")} />
      <div className="col-span-2 flex items-end gap-2 md:col-span-1 xl:row-start-1 xl:col-start-6">
        <Button type="submit" tone="primary">
          Apply
        </Button>
        <Button tone="quiet" onClick={() => apply({})}>
          Reset
        </Button>
      </div>
    </SearchForm>
  );
}
