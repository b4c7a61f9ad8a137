import { Activity, BookOpen, Coins, Eraser, FileWarning, KeyRound, Layers, type LucideIcon, MessagesSquare, Network, Search, Waypoints } from "lucide-react";

import { hasScope, type Principal } from "@/api/session";

export interface Place {
  to: string;
  title: string;
  icon: LucideIcon;
  group: "Memory" | "Pipeline" | "Settings";
  opens: (principal: Principal) => boolean;
}

const reads = (principal: Principal) => hasScope(principal, "recall");
const isOperator = (principal: Principal) => principal.kind === "operator";
const operates = (principal: Principal) => isOperator(principal) || hasScope(principal, "operate");

/** The pages in the order of the navigation, each with the principals that it is for. */
export const PLACES: Place[] = [
  { to: "/", title: "Overview", icon: Activity, group: "Pipeline", opens: (who) => isOperator(who) || reads(who) },
  { to: "/memories", title: "Memories", icon: Layers, group: "Memory", opens: reads },
  { to: "/entities", title: "Entities", icon: BookOpen, group: "Memory", opens: reads },
  { to: "/recall", title: "Recall debugger", icon: Search, group: "Memory", opens: reads },
  { to: "/links", title: "Link graph", icon: Network, group: "Memory", opens: reads },
  { to: "/sessions", title: "Sessions", icon: MessagesSquare, group: "Pipeline", opens: reads },
  { to: "/dead-letters", title: "Dead letters", icon: FileWarning, group: "Pipeline", opens: operates },
  { to: "/cost", title: "Cost", icon: Coins, group: "Pipeline", opens: (who) => isOperator(who) || reads(who) },
  { to: "/erasures", title: "Erasures", icon: Eraser, group: "Settings", opens: (who) => isOperator(who) || hasScope(who, "erase") },
  { to: "/schemas", title: "Schemas and methods", icon: Waypoints, group: "Settings", opens: operates },
  { to: "/keys", title: "Keys and quotas", icon: KeyRound, group: "Settings", opens: (who) => isOperator(who) || reads(who) },
];

export const GROUPS = ["Pipeline", "Memory", "Settings"] as const;
