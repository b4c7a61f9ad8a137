import { Link } from "@tanstack/react-router";

import type { Principal } from "@/api/session";

import { GROUPS, isOpenTo, PLACES } from "./navigation";

export function Nav({ principal, onFollow }: { principal: Principal; onFollow?: () => void }) {
  return (
    <nav aria-label="Pages" className="space-y-4">
      {GROUPS.map((group) => {
        const places = PLACES.filter((place) => place.group === group && isOpenTo(place, principal));
        if (places.length === 0) return null;
        return (
          <div key={group}>
            <p className="px-2.5 pb-1 text-2xs font-semibold tracking-wide text-muted uppercase">{group}</p>
            <ul className="space-y-0.5">
              {places.map((place) => (
                <li key={place.to}>
                  <Link
                    to={place.to}
                    onClick={onFollow}
                    activeOptions={{ exact: place.to === "/", includeSearch: false }}
                    className="flex items-center gap-2.5 rounded-md px-2.5 py-1.5 text-sm text-muted hover:bg-raised hover:text-ink"
                    activeProps={{ className: "bg-accent-soft !text-accent font-medium" }}
                  >
                    <place.icon aria-hidden className="size-4 shrink-0" />
                    {place.title}
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        );
      })}
    </nav>
  );
}
