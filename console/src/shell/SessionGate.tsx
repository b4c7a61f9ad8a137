import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";

import { sessionQuery } from "@/api/session";
import { SignInPage } from "@/pages/signin/SignInPage";
import { ErrorNote, Loading } from "@/ui/states";

/** Shows the sign-in page until somebody is signed in. The address stays, so that signing in leads to the page that was opened. */
export function SessionGate({ children }: { children: ReactNode }) {
  const session = useQuery(sessionQuery);
  if (session.data) return children;
  if (session.data === null) return <SignInPage />;
  return (
    <main className="mx-auto max-w-md p-6 pt-24">
      {session.isError ? <ErrorNote error={session.error} onRetry={() => void session.refetch()} /> : <Loading label="Reading the session" />}
    </main>
  );
}
