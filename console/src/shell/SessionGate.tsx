import { useQuery } from "@tanstack/react-query";
import { Fragment, type ReactNode } from "react";

import { endedSession, identityOf, SessionContext, sessionQuery } from "@/api/session";
import { SignInOver } from "@/pages/signin/SignInOver";
import { SignInPage } from "@/pages/signin/SignInPage";
import { ErrorNote, Loading } from "@/ui/states";

/**
 * Shows the sign-in page until somebody is signed in. The address stays, so that signing in leads to the page that was opened. After the end
 * of a session, the page stays beneath: with the same key, what was entered is still there. Another key gets a new page.
 */
export function SessionGate({ children }: { children: ReactNode }) {
  const query = useQuery(sessionQuery);
  const session = query.data ?? (query.data === null ? endedSession() : null);
  if (session) {
    return (
      <>
        <SessionContext value={session}>
          <Fragment key={identityOf(session.principal)}>{children}</Fragment>
        </SessionContext>
        {query.data === null && <SignInOver />}
      </>
    );
  }
  if (query.data === null) return <SignInPage />;
  return (
    <main className="mx-auto max-w-md p-6 pt-24">
      {query.isError ? <ErrorNote error={query.error} onRetry={() => void query.refetch()} /> : <Loading label="Reading the session" />}
    </main>
  );
}
