import { fileURLToPath } from "node:url";

import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** The query service that the development server forwards requests to. */
const service = process.env.VARVE_CONSOLE_SERVICE ?? "http://127.0.0.1:8080";

export default defineConfig({
  base: "/console/",
  resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
  plugins: [react(), tailwindcss()],
  build: {
    outDir: "../api/console/static",
    emptyOutDir: true,
    target: "es2022",
    // The content security policy allows no inline scripts and no data in fonts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  // A plain "/console/session" would match the page "/console/sessions" as well.
  server: { proxy: { "/v1": service, "^/console/session$": service, "/healthz": service } },
});
