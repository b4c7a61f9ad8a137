const DATE = new Intl.DateTimeFormat("en-GB", { year: "numeric", month: "short", day: "numeric" });
const MINUTE = new Intl.DateTimeFormat("en-GB", { year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" });
const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const COMPACT = new Intl.NumberFormat("en-GB", { notation: "compact", maximumFractionDigits: 1 });
const PLAIN = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 2 });

export const formatDate = (iso: string): string => DATE.format(new Date(iso));
export const formatTime = (iso: string): string => MINUTE.format(new Date(iso));
export const formatClock = (iso: string): string => CLOCK.format(new Date(iso));

/** Short: 950, 12.4k, 3M. */
export const formatCount = (value: number): string => (Math.abs(value) < 10_000 ? PLAIN.format(value) : COMPACT.format(value));

/** Three significant digits, for scores. */
export function formatScore(value: number): string {
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

const PLURALS: Record<string, string> = { patch: "patches", memory: "memories" };

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
