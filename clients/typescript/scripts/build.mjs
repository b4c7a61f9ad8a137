// Compiles the package twice: ES modules to dist/esm, CommonJS to dist/cjs.
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = dirname(dirname(fileURLToPath(import.meta.url)));
const compiler = createRequire(import.meta.url).resolve("typescript/bin/tsc");

rmSync(join(folder, "dist"), { recursive: true, force: true });
for (const [format, type] of [["esm", "module"], ["cjs", "commonjs"]]) {
  const output = join(folder, "dist", format);
  mkdirSync(output, { recursive: true });
  // TypeScript and Node.js read the module format of a folder from its package.json.
  writeFileSync(join(output, "package.json"), `${JSON.stringify({ type })}\n`);
  execFileSync(process.execPath, [compiler, "--project", join(folder, `tsconfig.${format}.json`)], { stdio: "inherit" });
}
