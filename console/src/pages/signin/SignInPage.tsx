import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";

import { ApiError } from "@/api/errors";
import { endedSession, signIn } from "@/api/session";
import { Logo } from "@/shell/Logo";
import { ThemeSwitch } from "@/shell/ThemeSwitch";
import { Button } from "@/ui/Button";
import { TextField } from "@/ui/Field";
import { ErrorNote } from "@/ui/states";

export function SignInPage() {
  const client = useQueryClient();
  const [key, setKey] = useState("");
  const attempt = useMutation({ mutationFn: (given: string) => signIn(client, given) });
  useEffect(() => {
    const before = document.title;
    document.title = "Sign in · Varve console";
    return () => {
      document.title = before;
    };
  }, []);
  return (
    <main className="mx-auto flex min-h-dvh max-w-sm flex-col justify-center gap-6 p-4">
      <Logo />
      <form
        className="space-y-4 rounded-lg border bg-panel p-5"
        onSubmit={(event) => {
          event.preventDefault();
          attempt.mutate(key.trim());
        }}
      >
        <div>
          <h1>Sign in</h1>
          <p className="mt-1 text-sm text-muted">Use an API key of a tenant or of an operator. The console shows what the key may see.</p>
        </div>
        {endedSession() && (
          <p role="status" className="rounded-md bg-warn-soft px-3 py-2 text-sm text-warn">
            Your session has ended, or another tab has signed in with another key. Sign in again: with the same key, what you have entered is still there. A change that you were
            sending was not made.
          </p>
        )}
        <TextField
          label="API key"
          type="password"
          autoComplete="current-password"
          spellCheck={false}
          required
          value={key}
          onChange={(event) => setKey(event.target.value)}
          hint="With varve dev, the key is in .varve/dev.key."
        />
        {attempt.isError && <ErrorNote error={inPlainWords(attempt.error)} />}
        <Button type="submit" tone="primary" busy={attempt.isPending} className="w-full">
          Sign in
        </Button>
      </form>
      <div>
        <ThemeSwitch />
      </div>
    </main>
  );
}

/** The detail of a 401 is about headers; here the reader entered a key. */
function inPlainWords(error: Error): Error {
  if (!(error instanceof ApiError) || error.status !== 401) return error;
  return new ApiError(401, error.kind, "The service does not accept this key. It may be mistyped, revoked or expired.", error.traceId, null);
}
