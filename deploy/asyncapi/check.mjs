// Prints what the specification has against an AsyncAPI document, one line each, and exits with 1 where that is anything: node check.mjs FILE.
import { readFile } from "node:fs/promises";
import { Parser } from "@asyncapi/parser";

const { document, diagnostics } = await new Parser().parse(await readFile(process.argv[2], "utf8"));
for (const { severity, code, path, message } of diagnostics) {
  console.log(`${["error", "warning", "info", "hint"][severity]} ${code} at ${path.join("/")}: ${message}`);
}
process.exitCode = document === undefined || diagnostics.length > 0 ? 1 : 0;
