import type { UseQueryResult } from "@tanstack/react-query";
import { CircleAlert, Lock } from "lucide-react";
import { useEffect, useState, type ReactNode } from "react";

import { ApiError } from "@/api/errors";

import { Button } from "./Button";
import { cx } from "./classes";

const SLOW_MS = 8_000;

export function Loading({ rows = 4, label = "Loading" }: { rows?: number; label?: string }) {
  const [isSlow, setIsSlow] = useState(false);
  useEffect(() => {
    const timer = window.setTimeout(() => setIsSlow(true), SLOW_MS);
    return () => window.clearTimeout(timer);
  }, []);
  return (
    <div role="status" className="space-y-2.5 p-4">
      {isSlow ? <p className="text-sm text-muted">The service has not answered yet. The page waits for it.</p> : <span className="sr-only">{label}</span>}
      {Array.from({ length: rows }, (_, index) => (
        <div key={index} aria-hidden className={cx("h-4 animate-pulse rounded bg-raised", index % 3 === 2 ? "w-1/2" : index % 2 ? "w-4/5" : "w-full")} />
      ))}
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="px-4 py-10 text-center">
      <p className="text-sm font-medium">{title}</p>
      {children && <div className="mx-auto mt-1 max-w-prose text-sm text-muted">{children}</div>}
    </div>
  );
}

/** A request that got no answer: `fetch` rejects with a TypeError. */
const isUnanswered = (error: Error) => error instanceof TypeError && /fetch|network|load/i.test(error.message);

function textOf(error: Error): string {
  if (error instanceof ApiError) return error.message;
  return isUnanswered(error) ? "The service did not answer. Check that it runs and that this browser reaches it." : `The console failed: ${error.message}`;
}

/** What went wrong, and the id under which the service logged it. */
export function ErrorNote({ error, onRetry }: { error: Error; onRetry?: () => void }) {
  const refusal = error instanceof ApiError ? error : null;
  const text = textOf(error);
  return (
    <div role="alert" className="flex flex-wrap items-start gap-3 rounded-md bg-bad-soft px-3 py-2 text-sm text-bad">
      <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
      <div className="min-w-0 flex-1 basis-40">
        <p>{text}</p>
        {refusal?.retryAfterS != null && <p className="mt-0.5 text-xs">Try again in {refusal.retryAfterS} s.</p>}
        {refusal?.traceId && <p className="mt-0.5 font-mono text-2xs">trace {refusal.traceId}</p>}
      </div>
      {onRetry && (
        <Button size="small" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}

/** A page or a part of it that the principal's key does not open. */
export function NotForYou({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="px-4 py-10 text-center">
      <Lock aria-hidden className="mx-auto mb-2 size-5 text-muted" />
      <p className="text-sm font-medium">{title}</p>
      <div className="mx-auto mt-1 max-w-prose text-sm text-muted">{children}</div>
    </div>
  );
}

interface StateProps<Data> {
  query: UseQueryResult<Data>;
  rows?: number;
  isEmpty?: (data: Data) => boolean;
  empty?: ReactNode;
  children: (data: Data) => ReactNode;
}

/** Shows a query: loading, failed, empty, or its data. A failed refresh keeps the older data. */
export function QueryState<Data>({ query, rows, isEmpty, empty, children }: StateProps<Data>) {
  if (query.data !== undefined) {
    return (
      <>
        {query.isError && (
          <div className="p-4">
            <ErrorNote error={query.error} onRetry={() => void query.refetch()} />
          </div>
        )}
        {isEmpty?.(query.data) ? empty : children(query.data)}
      </>
    );
  }
  if (query.isError) {
    return (
      <div className="p-4">
        <ErrorNote error={query.error} onRetry={() => void query.refetch()} />
      </div>
    );
  }
  return <Loading rows={rows} />;
}
