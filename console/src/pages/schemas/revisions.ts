/** The newest revision that is known of each schema's name. */
export type Newest = Record<string, number>;

/** The number in `notes@2`; 0 if there is none. */
export const revisionOf = (schema: string): number => Number(/@(\d+)$/.exec(schema)?.[1] ?? 0);

export function newestOf(schemas: string[]): Newest {
  const newest: Newest = {};
  for (const schema of schemas) {
    const name = schema.slice(0, schema.lastIndexOf("@"));
    newest[name] = Math.max(newest[name] ?? 0, revisionOf(schema));
  }
  return newest;
}

/** The name in the content of a schema, or nothing. */
export function nameOf(content: unknown): string {
  const name = typeof content === "object" && content !== null && "Name" in content ? content.Name : null;
  return typeof name === "string" ? name : "";
}
