/** A part of a score with the words that explain it. */
export interface PartGroup {
  key: "search" | "ranking" | "score" | "other";
  title: string;
  note: string;
  parts: string[];
}

const SEARCH = ["dense", "bm25", "late", "store"];
const SCORE = ["origin", "time", "business"];

/** What each part measures. */
export const MEANINGS: Record<string, string> = {
  dense: "Similarity of the meaning",
  bm25: "Words in common",
  late: "Similarity word by word",
  origin: "Relevance after ranking",
  time: "Age of the memory",
  business: "Importance and type",
  state: "Current, not older, value",
  ranking_dense: "Similarity of the meaning",
  ranking_late: "Similarity word by word",
  ranking_neighbours_late: "Neighbours: by word",
  ranking_neighbours_bm25: "Neighbours: words",
  ranking_nearby: "Messages near it",
  ranking_session_late: "Its session: word by word",
  ranking_session_size: "Found in its session",
  ranking_coverage: "Query words it has alone",
  ranking_session_coverage: "Query words in session",
  ranking_related: "Like the best sessions",
  ranking_named: "Names in the query",
  ranking_month: "A month in the query",
  ranking_time: "A time in the query",
  ranking_opening: "Opens a session",
  ranking_recent: "New",
  ranking_importance: "Importance",
  ranking_question: "It is a question itself",
  ranking_length: "Length of the text",
};

/** Sorts the parts of scores into the stages of the pipeline that add them. */
export function groupParts(names: Iterable<string>): PartGroup[] {
  const all = [...new Set(names)];
  const ranking = all.filter((name) => name.startsWith("ranking_"));
  const search = SEARCH.filter((name) => all.includes(name));
  const score = SCORE.filter((name) => all.includes(name));
  const known = new Set([...ranking, ...search, ...score]);
  const groups: PartGroup[] = [
    { key: "search", title: "Search", note: "each bar relative to the best result", parts: search },
    { key: "ranking", title: "Ranking", note: "terms of the ranker’s sum, the largest first; right raises, left lowers", parts: ranking },
    { key: "score", title: "Score", note: "each from 0 to 1, weighted by the request", parts: score },
    { key: "other", title: "Adjustments", note: "added after ranking", parts: all.filter((name) => !known.has(name)) },
  ];
  return groups.filter((group) => group.parts.length > 0);
}

/** The largest absolute value of each part: in the ranking, one scale for all terms, since they are added up; 1 for the parts of the final score. */
export function scales(groups: PartGroup[], rows: Record<string, number>[]): Record<string, number> {
  const largest = (name: string) => Math.max(0, ...rows.map((row) => Math.abs(row[name] ?? 0)));
  const found: Record<string, number> = {};
  for (const group of groups) {
    const shared = group.key === "ranking" ? Math.max(...group.parts.map(largest)) : group.key === "score" ? 1 : null;
    for (const name of group.parts) found[name] = shared ?? largest(name);
  }
  return found;
}
