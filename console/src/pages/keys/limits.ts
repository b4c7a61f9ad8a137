import { formatCount } from "@/ui/format";

/** A limit of a tenant with its unit. */
export interface LimitField {
  name: string;
  label: string;
  /** Whether the tenant may have no limit although the deployment has one. */
  isOptional?: boolean;
  /** The range of the value, as the form shows it. */
  min?: number;
  max?: number;
  /** A share, which the form shows in per cent. */
  isShare?: boolean;
  /** The possible values of a field that is no number. */
  choices?: { value: string; label: string }[];
}

export const QUOTA: LimitField[] = [
  { name: "messages_per_second", label: "Messages per second", isOptional: true },
  { name: "bytes_per_second", label: "Bytes of messages per second", isOptional: true },
  { name: "recalls_per_second", label: "Recalls per second", isOptional: true },
  { name: "concurrent_recalls", label: "Concurrent recalls", isOptional: true, min: 1 },
  { name: "memories", label: "Memories", isOptional: true },
];

export const BUDGET: LimitField[] = [
  { name: "soft_tokens", label: "Soft limit: tokens per day", isOptional: true },
  { name: "hard_tokens", label: "Hard limit: tokens per day", isOptional: true },
  { name: "soft_cost", label: "Soft limit: cost per day", isOptional: true },
  { name: "hard_cost", label: "Hard limit: cost per day", isOptional: true },
  {
    name: "policy",
    label: "Above the hard limit",
    choices: [
      { value: "wait", label: "Windows wait for the next day" },
      { value: "offline", label: "Rules extract, without a model" },
    ],
  },
  { name: "reextraction_share", label: "Share for re-extractions (%)", isShare: true, min: 0.1, max: 100 },
];

export type Limits = Record<string, unknown>;

/** The value of a field in a form: a text, or null for no limit. An empty text: the default of the deployment. */
export type Entry = string | null;

/** The entries of a form for a tenant's own limits. */
export function entriesOf(fields: LimitField[], own: Limits): Record<string, Entry> {
  return Object.fromEntries(fields.map((field) => [field.name, field.name in own ? entryOf(field, own[field.name]) : ""]));
}

function entryOf(field: LimitField, value: unknown): Entry {
  if (value === null) return null;
  return field.isShare ? String(inPercent(Number(value))) : String(value);
}

/** The tenant's own limits with the entries of a form. Limits that the form does not show stay. */
export function withEntries(before: Limits, fields: LimitField[], entries: Record<string, Entry>): Limits {
  const edited = new Set(fields.map((field) => field.name));
  const after = Object.fromEntries(Object.entries(before).filter(([name]) => !edited.has(name)));
  for (const field of fields) {
    const entry = entries[field.name]?.trim() ?? null;
    if (entry === null) after[field.name] = null;
    else if (entry !== "") after[field.name] = field.choices ? entry : field.isShare ? Number(entry) / 100 : Number(entry);
  }
  return after;
}

export interface ChangedLimit {
  label: string;
  before: string;
  after: string;
}

/** The limits that differ between two states of a tenant's own limits. */
export function changedLimits(fields: LimitField[], before: Limits, after: Limits): ChangedLimit[] {
  const ownInWords = (field: LimitField, own: Limits) => (field.name in own ? inWordsOf(field, own[field.name]) : "default");
  return fields
    .map((field) => ({ label: field.label, before: ownInWords(field, before), after: ownInWords(field, after) }))
    .filter((each) => each.before !== each.after);
}

/** The entries of a form that was opened with other limits: those that the reader has changed stay, all others follow the limits. */
export function rebased(fields: LimitField[], entries: Record<string, Entry>, before: Limits, after: Limits): Record<string, Entry> {
  const opened = entriesOf(fields, before);
  const changed = Object.entries(entries).filter(([name, entry]) => entry !== opened[name]);
  return { ...entriesOf(fields, after), ...Object.fromEntries(changed) };
}

/** A limit in words. */
export function inWordsOf(field: LimitField, value: unknown): string {
  if (value === null || value === undefined) return "no limit";
  if (field.choices) return field.choices.find((each) => each.value === value)?.label ?? String(value);
  return field.isShare ? `${inPercent(Number(value))} %` : formatCount(Number(value));
}

/** Without the digits that the multiplication of binary fractions adds. */
const inPercent = (share: number) => Number((share * 100).toPrecision(10));
