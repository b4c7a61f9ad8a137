import "./styles.css";

import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";

import { whenSessionRefused } from "./api/client";
import { ApiError } from "./api/errors";
import { checkSession } from "./api/session";
import { router } from "./router";
import { SessionGate } from "./shell/SessionGate";
import { applyTheme } from "./theme";

applyTheme();

/** Repeats what failed for a moment; a refusal stays one. */
function isTransient(failures: number, error: Error): boolean {
  return failures < 2 && !(error instanceof ApiError && error.status < 500);
}

const client = new QueryClient({ defaultOptions: { queries: { retry: isTransient, staleTime: 5_000, refetchOnWindowFocus: false } } });

whenSessionRefused(() => void checkSession(client));

const root = document.getElementById("root");
if (root === null) throw new Error("the page has no element with the id root");

createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <SessionGate>
        <RouterProvider router={router} />
      </SessionGate>
    </QueryClientProvider>
  </StrictMode>,
);
