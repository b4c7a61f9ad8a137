import { createRootRoute, createRoute, createRouter, lazyRouteComponent, retainSearchParams } from "@tanstack/react-router";

import { PageFailed, PageMissing } from "./shell/faults";
import { Shell } from "./shell/Shell";
import { requestPageFocus } from "./ui/pageFocus";

/** Reads a text from the search part of an address. */
function text(search: Record<string, unknown>, name: string): string | undefined {
  const value = search[name];
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Builds the validation of an address: the named parameters, each a text. */
function texts<Name extends string>(...names: Name[]): (search: Record<string, unknown>) => Partial<Record<Name, string>> {
  return (search) => {
    const found: Partial<Record<Name, string>> = {};
    for (const name of names) {
      const value = text(search, name);
      if (value !== undefined) found[name] = value;
    }
    return found;
  };
}

const root = createRootRoute({
  component: Shell,
  notFoundComponent: PageMissing,
  errorComponent: PageFailed,
  validateSearch: texts("tenant", "memory"),
  search: { middlewares: [retainSearchParams(["tenant"])] },
});

const overview = createRoute({ getParentRoute: () => root, path: "/", component: lazyRouteComponent(() => import("./pages/overview/OverviewPage"), "OverviewPage") });

const memories = createRoute({
  getParentRoute: () => root,
  path: "/memories",
  validateSearch: texts("q", "user", "session", "kind", "type", "since", "until"),
  component: lazyRouteComponent(() => import("./pages/memories/MemoriesPage"), "MemoriesPage"),
});

const entities = createRoute({
  getParentRoute: () => root,
  path: "/entities",
  validateSearch: texts("user", "type", "entity", "at", "by"),
  component: lazyRouteComponent(() => import("./pages/entities/EntitiesPage"), "EntitiesPage"),
});

const recall = createRoute({
  getParentRoute: () => root,
  path: "/recall",
  validateSearch: texts("q", "user", "session", "mode", "limit", "why"),
  component: lazyRouteComponent(() => import("./pages/recall/RecallPage"), "RecallPage"),
});

const sessions = createRoute({
  getParentRoute: () => root,
  path: "/sessions",
  validateSearch: texts("user", "session"),
  component: lazyRouteComponent(() => import("./pages/sessions/SessionsPage"), "SessionsPage"),
});

const letters = createRoute({
  getParentRoute: () => root,
  path: "/dead-letters",
  validateSearch: texts("stage", "reason", "state", "since", "letter"),
  component: lazyRouteComponent(() => import("./pages/letters/LettersPage"), "LettersPage"),
});

const cost = createRoute({ getParentRoute: () => root, path: "/cost", validateSearch: texts("by"), component: lazyRouteComponent(() => import("./pages/cost/CostPage"), "CostPage") });

const erasures = createRoute({
  getParentRoute: () => root,
  path: "/erasures",
  validateSearch: texts("subject"),
  component: lazyRouteComponent(() => import("./pages/erasures/ErasuresPage"), "ErasuresPage"),
});

const schemas = createRoute({
  getParentRoute: () => root,
  path: "/schemas",
  validateSearch: texts("schema", "method", "tab"),
  component: lazyRouteComponent(() => import("./pages/schemas/SchemasPage"), "SchemasPage"),
});

const reextractions = createRoute({
  getParentRoute: () => root,
  path: "/reextractions",
  validateSearch: texts("generation"),
  component: lazyRouteComponent(() => import("./pages/reextractions/ReextractionsPage"), "ReextractionsPage"),
});

const keys = createRoute({ getParentRoute: () => root, path: "/keys", component: lazyRouteComponent(() => import("./pages/keys/KeysPage"), "KeysPage") });

const links = createRoute({
  getParentRoute: () => root,
  path: "/links",
  validateSearch: texts("user", "node"),
  component: lazyRouteComponent(() => import("./pages/links/LinksPage"), "LinksPage"),
});

export const router = createRouter({
  routeTree: root.addChildren([overview, memories, entities, recall, sessions, letters, cost, erasures, schemas, reextractions, keys, links]),
  basepath: "/console",
  defaultPreload: "intent",
  // Texts stay readable in the address: no JSON quotes around them.
  parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
  stringifySearch: (search) => {
    const pairs = Object.entries(search).filter((pair): pair is [string, string] => typeof pair[1] === "string" && pair[1] !== "");
    return pairs.length === 0 ? "" : `?${new URLSearchParams(pairs).toString()}`;
  },
});

router.subscribe("onBeforeNavigate", ({ fromLocation, pathChanged }) => {
  if (fromLocation === undefined || !pathChanged) return;
  requestPageFocus();
  window.scrollTo(0, 0);
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
