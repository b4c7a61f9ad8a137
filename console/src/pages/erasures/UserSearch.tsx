import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { Button } from "@/ui/Button";
import { TextField } from "@/ui/Field";
import { SearchForm } from "@/ui/SearchForm";

import { canDigest, subjectOf } from "./subject";

/** The digests of a user in some tenants; undefined while nobody is looked for. The name stays in this browser, and out of the address. */
export function useSubjects(user: string, tenants: string[]): ReadonlySet<string> | undefined {
  const query = useQuery({
    queryKey: ["subjects", user, tenants],
    enabled: user !== "",
    staleTime: Infinity,
    queryFn: async () => new Set(await Promise.all(tenants.map((tenant) => subjectOf(tenant, user)))),
  });
  return user === "" ? undefined : (query.data ?? new Set());
}

/** Asks for a user. Receipts name users by digests, so that nobody finds one by reading the list. */
export function UserSearch({ user, onSearch }: { user: string; onSearch: (user: string) => void }) {
  const [text, setText] = useState(user);
  if (!canDigest()) {
    return (
      <p className="text-sm text-muted">
        To find a user here, open the console over HTTPS. On a machine with the service’s settings: <code className="font-mono text-xs">varve erasures check TENANT USER</code>
      </p>
    );
  }
  return (
    <SearchForm onSearch={() => onSearch(text.trim())}>
      <TextField label="Was this user erased?" placeholder="The user’s id" className="w-64" autoComplete="off" value={text} onChange={(event) => setText(event.target.value)} />
      <Button type="submit">Find</Button>
      {user !== "" && (
        <Button
          tone="quiet"
          onClick={() => {
            setText("");
            onSearch("");
          }}
        >
          Show all
        </Button>
      )}
    </SearchForm>
  );
}
