import { lineAt } from "./locate";

/** A text of the editor: its JSON, or why it is none. */
export type Parsed = { value: unknown; error: null } | { value: null; error: { message: string; line: number | null } };

export function parseText(text: string): Parsed {
  try {
    return { value: JSON.parse(text), error: null };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const offset = /position (\d+)/.exec(message)?.[1];
    return { value: null, error: { message, line: offset === undefined ? null : lineAt(text, Number(offset)) } };
  }
}

export const EXAMPLE = {
  Name: "notes",
  Version: "1",
  Description: "What users note.",
  EventTypes: [{ EventType: "note", Description: "Something that the user wants to keep.", Properties: [] }],
  EntityTypes: [],
};

export const pretty = (value: unknown): string => JSON.stringify(value, null, 2);
