import eslint from "@eslint/js";
import { defineConfig } from "eslint/config";
import tseslint from "typescript-eslint";

export default defineConfig(
  { ignores: ["dist/", "build/", "src/schema.ts"] },
  eslint.configs.recommended,
  {
    files: ["**/*.ts", "**/*.mts", "**/*.cts"],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    // The compiler demands brackets for fields that no type names.
    rules: { "@typescript-eslint/dot-notation": ["error", { allowIndexSignaturePropertyAccess: true }] },
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
  },
  {
    files: ["tests/**"],
    rules: {
      // node:test reports the outcome of the promises that test() returns.
      "@typescript-eslint/no-floating-promises": ["error", { allowForKnownSafeCalls: [{ from: "package", package: "node:test", name: ["test", "suite"] }] }],
    },
  },
  { files: ["**/*.cts"], rules: { "@typescript-eslint/no-require-imports": "off" } },
  { files: ["scripts/**"], languageOptions: { globals: { process: "readonly" } } },
);
