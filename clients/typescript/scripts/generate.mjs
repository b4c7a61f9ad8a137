// Generates src/schema.ts from the OpenAPI document: the routes of tenants, with the schemas that they use.
// An argument is the file to write. Default: src/schema.ts.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import openapiTS, { astToString } from "openapi-typescript";

const folder = dirname(dirname(fileURLToPath(import.meta.url)));
const document = JSON.parse(readFileSync(join(folder, "../../docs/reference/openapi.json"), "utf8"));
const target = process.argv[2] ?? join(folder, "src/schema.ts");

/** Names of the schemas that a part of the document refers to. */
function referenced(part) {
  const names = JSON.stringify(part).matchAll(/"#\/components\/schemas\/([^"]+)"/g);
  return [...names].map((match) => match[1]);
}

const paths = Object.entries(document.paths).filter(([path]) => !path.startsWith("/v1/admin/"));
const schemas = {};
const pending = referenced(paths);
while (pending.length > 0) {
  const name = pending.pop();
  if (!(name in schemas)) {
    schemas[name] = document.components.schemas[name];
    pending.push(...referenced(schemas[name]));
  }
}

/** A copy without examples: they would be most of the file. */
function withoutExamples(part) {
  if (Array.isArray(part)) return part.map(withoutExamples);
  if (part === null || typeof part !== "object") return part;
  const kept = Object.entries(part).filter(([name, value]) => !["example", "examples"].includes(name) || value?.type !== undefined);
  return Object.fromEntries(kept.map(([name, value]) => [name, withoutExamples(value)]));
}

const subset = withoutExamples({ ...document, paths: Object.fromEntries(paths), components: { ...document.components, schemas } });
// Clients may leave out a field that has a default.
const types = astToString(await openapiTS(subset, { defaultNonNullable: false, alphabetize: true }));
writeFileSync(target, `// Generated from docs/reference/openapi.json: npm run generate\n\n${types}`);
