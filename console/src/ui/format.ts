const DATE = new Intl.DateTimeFormat("en-GB", { year: "numeric", month: "short", day: "numeric" });
const DAY = new Intl.DateTimeFormat("en-GB", { month: "short", day: "numeric", timeZone: "UTC" });
const MINUTE = new Intl.DateTimeFormat("en-GB", { year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" });
const EXACT = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeStyle: "long" });
const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const ZONE = new Intl.DateTimeFormat("en-GB", { timeZoneName: "longOffset" });
const COMPACT = new Intl.NumberFormat("en-GB", { notation: "compact", maximumFractionDigits: 1 });
const EXACT_COUNT = new Intl.NumberFormat("en-GB");
const PLAIN = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 2 });

/** A day of a chart, in UTC like the days themselves: "28 Nov". */
export const formatDay = (day: string): string => DAY.format(new Date(`${day}T00:00:00Z`));
export const formatDate = (iso: string): string => DATE.format(new Date(iso));
export const formatTime = (iso: string): string => MINUTE.format(new Date(iso));
export const formatClock = (iso: string): string => CLOCK.format(new Date(iso));

/** With weekday, seconds and time zone. */
export const formatExactTime = (iso: string): string => EXACT.format(new Date(iso));

/** The reader's time zone, in which the console shows times: "Europe/Oslo, GMT+01:00". */
export function timeZone(): string {
  const offset = ZONE.formatToParts(new Date()).find((part) => part.type === "timeZoneName")?.value ?? "";
  const { timeZone: name } = ZONE.resolvedOptions();
  return name === "UTC" ? name : `${name}, ${offset}`;
}

const WEEK_S = 7 * 86_400;
const UNITS: [seconds: number, name: string][] = [
  [86_400, "d"],
  [3600, "h"],
  [60, "min"],
];

/** The distance to a moment within a week: "3 min ago", "in 2 h". Null: it is further away, and a date says more. */
export function formatDistance(iso: string, now: number): string | null {
  const distance = (now - Date.parse(iso)) / 1000;
  const seconds = Math.round(Math.abs(distance));
  if (seconds > WEEK_S) return null;
  if (seconds < 5) return "now";
  const [length, unit] = UNITS.find(([each]) => seconds >= each) ?? [1, "s"];
  const amount = `${Math.floor(seconds / length)} ${unit}`;
  return distance < 0 ? `in ${amount}` : `${amount} ago`;
}

/** Short: 950, 12.4k, 3M. */
export const formatCount = (value: number): string => (Math.abs(value) < 10_000 ? PLAIN.format(value) : COMPACT.format(value));

/** Every digit, for tooltips next to short numbers. */
export const formatExactCount = (value: number): string => EXACT_COUNT.format(value);

/** Bytes in the largest fitting unit. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${formatScore(bytes / 1000)} kB`;
  return `${formatScore(bytes / 1_000_000)} MB`;
}

/** Three significant digits, for scores. */
export function formatScore(value: number): string {
  if (value !== 0 && Math.abs(value) < 1e-6) return "≈ 0";
  if (value !== 0 && Math.abs(value) < 0.001) return value.toExponential(1);
  return String(Number(value.toPrecision(3)));
}

/** Seconds as the largest fitting unit. */
export function formatSeconds(seconds: number): string {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 120) return `${formatScore(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

/** A name of the API in words: `below_threshold` becomes "below threshold". */
export const inWords = (name: string): string => name.replaceAll("_", " ").replaceAll("-", " ");

const PLURALS: Record<string, string> = { patch: "patches", memory: "memories", "dead delivery": "dead deliveries", delivery: "deliveries" };

/** A number with its noun: "1 message", "2 patches". */
export const counted = (count: number, noun: string): string => `${formatCount(count)} ${count === 1 ? noun : (PLURALS[noun] ?? `${noun}s`)}`;

/** An entity's key as people write it: the API encodes its parts for addresses. */
export function readableKey(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}

/** Who extracted a memory: `offline`, or `llm:` and the model's name. */
export const extractorInWords = (extractor: string): string => (extractor === "offline" ? "rules, without a model" : extractor.replace(/^llm:/, "the model "));

const MOST_IDS = 12;

/** Ids in one line; of many, the first ones and how many more there are. */
export function listed(ids: string[]): string {
  const more = ids.length - MOST_IDS;
  return more > 0 ? `${ids.slice(0, MOST_IDS).join(", ")} and ${formatCount(more)} more` : ids.join(", ");
}
