/** A limit of a tenant with its unit. */
export interface LimitField {
  name: string;
  label: string;
}

export const QUOTA: LimitField[] = [
  { name: "messages_per_second", label: "Messages per second" },
  { name: "bytes_per_second", label: "Bytes of messages per second" },
  { name: "recalls_per_second", label: "Recalls per second" },
  { name: "concurrent_recalls", label: "Concurrent recalls" },
  { name: "memories", label: "Memories" },
];

export const BUDGET: LimitField[] = [
  { name: "soft_tokens", label: "Soft limit: tokens per day" },
  { name: "hard_tokens", label: "Hard limit: tokens per day" },
  { name: "soft_cost", label: "Soft limit: cost per day" },
  { name: "hard_cost", label: "Hard limit: cost per day" },
];

export type Limits = Record<string, unknown>;

/** The limits with the texts of a form: an empty text removes the tenant's own limit. */
export function withTexts(before: Limits, fields: LimitField[], texts: Record<string, string>): Limits {
  const edited = new Set(fields.map((field) => field.name));
  const kept = Object.entries(before).filter(([name]) => !edited.has(name));
  const set = fields.map(({ name }): [string, string] => [name, texts[name]?.trim() ?? ""]).filter(([, text]) => text !== "");
  return Object.fromEntries([...kept, ...set.map(([name, text]): [string, number] => [name, Number(text)])]);
}
