import { Link, type ErrorComponentProps } from "@tanstack/react-router";

import { Empty, ErrorNote } from "@/ui/states";

export function PageMissing() {
  return (
    <Empty title="There is no such page">
      <Link to="/" className="text-accent underline">
        Open the overview
      </Link>
    </Empty>
  );
}

export function PageFailed({ error, reset }: ErrorComponentProps) {
  return <ErrorNote error={error instanceof Error ? error : new Error(String(error))} onRetry={reset} />;
}
