/**
 * Finds the line of a path such as `EventTypes[0].Properties[2].Operator` in a JSON text, from 1.
 * If a part of the path is missing in the text, the line of the innermost part that exists.
 */
export function lineOfPath(text: string, path: string): number {
  const parts = [...path.matchAll(/\[(\d+)\]|([^.[\]]+)/g)].map((match) => (match[1] === undefined ? String(match[2]) : Number(match[1])));
  const reader = new Reader(text);
  let place = reader.skipSpace(0);
  for (const part of parts) {
    const next = reader.child(place, part);
    if (next === null) break;
    place = next;
  }
  return lineAt(text, place);
}

/** The line of an offset, from 1. */
export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

/** Reads valid JSON from offsets, without building its values. */
class Reader {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  skipSpace(at: number): number {
    while (at < this.#text.length && /\s/.test(this.#text.charAt(at))) at++;
    return at;
  }

  /** The offset of a member's key, or of an item of an array. Null: there is none. */
  child(at: number, part: string | number): number | null {
    const start = this.#valueOf(at);
    const isArray = this.#text[start] === "[";
    if ((!isArray && this.#text[start] !== "{") || isArray !== (typeof part === "number")) return null;
    let place = this.skipSpace(start + 1);
    for (let index = 0; this.#text[place] !== undefined && this.#text[place] !== "]" && this.#text[place] !== "}"; index++) {
      const key = isArray ? null : (JSON.parse(this.#text.slice(place, this.#end(place))) as string);
      if (part === (isArray ? index : key)) return place;
      place = this.skipSpace(this.#end(this.#valueOf(place)));
      if (this.#text[place] === ",") place = this.skipSpace(place + 1);
    }
    return null;
  }

  /** The offset of the value: a key is followed by a colon and its value. */
  #valueOf(at: number): number {
    if (this.#text[at] !== '"') return at;
    const after = this.skipSpace(this.#end(at));
    return this.#text[after] === ":" ? this.skipSpace(after + 1) : at;
  }

  /** The offset after a text, a number, an array or an object. */
  #end(at: number): number {
    const first = this.#text.charAt(at);
    if (first === '"') {
      let place = at + 1;
      while (place < this.#text.length && this.#text[place] !== '"') place += this.#text[place] === "\\" ? 2 : 1;
      return place + 1;
    }
    if (first === "{" || first === "[") {
      let depth = 0;
      let place = at;
      do {
        const sign = this.#text.charAt(place);
        if (sign === '"') {
          place = this.#end(place);
          continue;
        }
        if (sign === "{" || sign === "[") depth++;
        if (sign === "}" || sign === "]") depth--;
        place++;
      } while (depth > 0 && place < this.#text.length);
      return place;
    }
    let place = at;
    while (place < this.#text.length && !/[\s,\]}]/.test(this.#text.charAt(place))) place++;
    return place;
  }
}
