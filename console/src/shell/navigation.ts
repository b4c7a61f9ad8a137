import { Activity, BookOpen, Coins, Eraser, FileWarning, KeyRound, Layers, type LucideIcon, MessagesSquare, Network, RefreshCw, Search, Waypoints } from "lucide-react";

import { hasScope, type Principal, type Scope } from "@/api/session";

export interface Place {
  to: string;
  title: string;
  icon: LucideIcon;
  group: "Memory" | "Pipeline" | "Settings";
  /** The scope that a tenant's key needs. Null: it is only for operators. */
  scope: Scope | null;
  /** Whether operators' keys open it. They do not read tenants' memories. */
  forOperators: boolean;
}

/** The pages in the order of the navigation. */
export const PLACES: Place[] = [
  { to: "/", title: "Overview", icon: Activity, group: "Pipeline", scope: "recall", forOperators: true },
  { to: "/sessions", title: "Sessions", icon: MessagesSquare, group: "Pipeline", scope: "recall", forOperators: false },
  { to: "/dead-letters", title: "Dead letters", icon: FileWarning, group: "Pipeline", scope: "operate", forOperators: true },
  { to: "/cost", title: "Cost", icon: Coins, group: "Pipeline", scope: "operate", forOperators: true },
  { to: "/reextractions", title: "Re-extractions", icon: RefreshCw, group: "Pipeline", scope: null, forOperators: true },
  { to: "/memories", title: "Memories", icon: Layers, group: "Memory", scope: "recall", forOperators: false },
  { to: "/entities", title: "Entities", icon: BookOpen, group: "Memory", scope: "recall", forOperators: false },
  { to: "/recall", title: "Recall debugger", icon: Search, group: "Memory", scope: "recall", forOperators: false },
  { to: "/links", title: "Link graph", icon: Network, group: "Memory", scope: "recall", forOperators: false },
  { to: "/erasures", title: "Erasures", icon: Eraser, group: "Settings", scope: "erase", forOperators: true },
  { to: "/schemas", title: "Schemas and methods", icon: Waypoints, group: "Settings", scope: "operate", forOperators: true },
  { to: "/keys", title: "Keys and quotas", icon: KeyRound, group: "Settings", scope: "recall", forOperators: true },
];

export const GROUPS = ["Pipeline", "Memory", "Settings"] as const;

/** Whether a principal's key opens a page. */
export function isOpenTo(place: Place, principal: Principal): boolean {
  return principal.kind === "operator" ? place.forOperators : place.scope !== null && hasScope(principal, place.scope);
}
