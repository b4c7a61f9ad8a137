import type { Tone } from "@/ui/Badge";
import { inWords } from "@/ui/format";

const OUTCOMES: Record<string, { text: string; tone: Tone }> = {
  returned: { text: "It is among the results.", tone: "good" },
  used: { text: "A returned entity or summary uses it.", tone: "good" },
  rank: { text: "Better candidates filled the limit.", tone: "neutral" },
  repeated: { text: "Another result repeats it.", tone: "neutral" },
  duplicate: { text: "Another memory with the same text was taken.", tone: "neutral" },
  below_threshold: { text: "Its score or the confidence is below the threshold.", tone: "warn" },
  not_a_candidate: { text: "No search returned it among the nearest.", tone: "warn" },
  filter: { text: "The request excludes it.", tone: "warn" },
  expired: { text: "It has expired.", tone: "warn" },
  window_open: { text: "Its window is still open, so nothing was extracted from it yet.", tone: "accent" },
  dropped: { text: "The extraction dropped what it found in this message.", tone: "bad" },
  not_extracted: { text: "The extraction found nothing to store in it.", tone: "bad" },
  unknown: { text: "There is no such memory or message, or it is another user’s.", tone: "bad" },
};

/** What happened to a candidate, in words. */
export function outcomeOf(name: string): { text: string; tone: Tone } {
  return OUTCOMES[name] ?? { text: inWords(name), tone: "neutral" };
}
