import { Outlet, useLocation, useNavigate, useSearch } from "@tanstack/react-router";
import { LogOut, Menu } from "lucide-react";
import { lazy, Suspense, useState } from "react";

import { hasScope, useSession, useSignOut, type Principal } from "@/api/session";
import { Badge } from "@/ui/Badge";
import { Dialog } from "@/ui/Dialog";
import { Notices, notify } from "@/ui/notices";
import { timeZone } from "@/ui/format";
import { PageHeader, Panel } from "@/ui/Panel";
import { Loading, NotForYou } from "@/ui/states";

import { Logo } from "./Logo";
import { Nav } from "./Nav";
import { isOpenTo, PLACES } from "./navigation";
import { Refresh } from "./Refresh";
import { TenantSwitch } from "./TenantSwitch";
import { ThemeSwitch } from "./ThemeSwitch";

const MemoryDialog = lazy(async () => ({ default: (await import("@/pages/memories/MemoryDialog")).MemoryDialog }));

/** The frame of all pages: navigation, who is signed in, and the page. */
export function Shell() {
  const { principal, version } = useSession();
  const [menuOpen, setMenuOpen] = useState(false);
  return (
    <div className="min-h-dvh md:grid md:grid-cols-[14.5rem_minmax(0,1fr)]">
      <a href="#main" className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-30 focus:rounded-md focus:bg-panel focus:p-2">
        Skip to the page
      </a>
      <aside className="sticky top-0 hidden h-dvh flex-col border-r bg-panel md:flex">
        <div className="flex h-13 items-center px-5">
          <Logo />
        </div>
        <div className="flex-1 overflow-y-auto px-2.5 py-2">
          <Nav principal={principal} />
        </div>
        <Imprint version={version} />
      </aside>
      <div className="flex min-w-0 flex-col">
        <header className="sticky top-0 z-10 flex min-h-13 items-center gap-2 border-b bg-panel px-3 md:px-6">
          <button type="button" aria-label="Open the menu" className="rounded-md p-2 hover:bg-raised md:hidden" onClick={() => setMenuOpen(true)}>
            <Menu aria-hidden className="size-5" />
          </button>
          <Who principal={principal} />
          <div className="ml-auto flex items-center gap-2">
            {principal.kind === "operator" && <TenantSwitch />}
            <Refresh />
            <span className="hidden sm:block">
              <ThemeSwitch />
            </span>
            <SignOut />
          </div>
        </header>
        <main id="main" className="mx-auto w-full max-w-[84rem] flex-1 space-y-4 p-3 md:p-6">
          <Suspense fallback={<Loading label="Loading the page" />}>
            <Page principal={principal} />
          </Suspense>
        </main>
      </div>
      {menuOpen && (
        <Dialog title="Varve" shape="menu" onClose={() => setMenuOpen(false)}>
          <Nav principal={principal} onFollow={() => setMenuOpen(false)} />
          <div className="mt-6 mb-4">
            <ThemeSwitch />
          </div>
          <Imprint version={version} />
        </Dialog>
      )}
      <OpenMemory principal={principal} />
      <Notices />
    </div>
  );
}

/** What a reader of times has to know, and the version that runs. */
function Imprint({ version }: { version: string }) {
  return (
    <div className="space-y-0.5 border-t px-5 py-2.5 text-2xs text-muted">
      <p>Times: {timeZone()}</p>
      <p>Version {version}</p>
    </div>
  );
}

/** The memory of the address, over the page. */
function OpenMemory({ principal }: { principal: Principal }) {
  const memory = useSearch({ strict: false, select: (search) => (search as { memory?: string }).memory });
  const navigate = useNavigate();
  if (memory === undefined || !hasScope(principal, "recall")) return null;
  const close = () => void navigate({ to: ".", search: (before: object) => ({ ...before, memory: undefined }) });
  return (
    <Suspense fallback={null}>
      <MemoryDialog key={memory} id={memory} onClose={close} />
    </Suspense>
  );
}

/** The page of the address, or why the key does not open it. */
function Page({ principal }: { principal: Principal }) {
  const path = useLocation({ select: (location) => location.pathname });
  const place = PLACES.find((each) => each.to === path);
  if (place === undefined || isOpenTo(place, principal)) return <Outlet />;
  return (
    <>
      <PageHeader title={place.title} />
      <Panel>
        {principal.kind === "operator" ? (
          <NotForYou title="Operators’ keys do not read tenants’ memories">Sign in with a key of the tenant to open this page.</NotForYou>
        ) : place.scope === null ? (
          <NotForYou title="This page is for operators">Sign in with an operator’s key to open it.</NotForYou>
        ) : (
          <NotForYou title="Your key does not open this page">It needs the scope “{place.scope}”.</NotForYou>
        )}
      </Panel>
    </>
  );
}

function Who({ principal }: { principal: Principal }) {
  const name = principal.kind === "operator" ? principal.label || principal.id : (principal.tenant ?? "");
  return (
    <p className="flex min-w-0 items-center gap-2 text-sm">
      <span className="truncate font-medium">{name}</span>
      <Badge tone="accent">{principal.kind === "operator" ? (principal.role ?? "operator") : "tenant"}</Badge>
      {principal.user && <span className="hidden truncate text-muted sm:inline">user {principal.user}</span>}
    </p>
  );
}

function SignOut() {
  const signOut = useSignOut();
  return (
    <button
      type="button"
      aria-label="Sign out"
      title="Sign out"
      className="rounded-md p-2 text-muted hover:bg-raised hover:text-ink"
      onClick={() => void signOut().catch((error: Error) => notify(`Signing out failed: ${error.message}`))}
    >
      <LogOut aria-hidden className="size-4" />
    </button>
  );
}
