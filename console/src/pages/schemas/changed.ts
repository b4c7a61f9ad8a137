export interface ChangedPart {
  /** Where the part is: `EventTypes › 2 › Description`. */
  path: string;
  /** Its JSON before and after; null: there was none. */
  before: string | null;
  after: string | null;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

/** The smallest parts in which two JSON values differ. Entries of a list are compared by their place, counted from 1. */
export function changedParts(before: unknown, after: unknown, path: string[] = []): ChangedPart[] {
  if (isObject(before) && isObject(after) && Array.isArray(before) === Array.isArray(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return names.flatMap((name) => changedParts(before[name], after[name], [...path, Array.isArray(after) ? String(Number(name) + 1) : name]));
  }
  const [was, is] = [inJson(before), inJson(after)];
  return was === is ? [] : [{ path: path.join(" › ") || "the whole schema", before: was, after: is }];
}

const inJson = (value: unknown): string | null => (value === undefined ? null : JSON.stringify(value));
