import { Link, type ErrorComponentProps } from "@tanstack/react-router";

import { PageHeader, Panel } from "@/ui/Panel";
import { Empty, ErrorNote } from "@/ui/states";

export function PageMissing() {
  return (
    <>
      <PageHeader title="There is no such page" />
      <Panel>
        <Empty title="The address leads nowhere">
          <Link to="/" className="text-accent underline">
            Open the overview
          </Link>
        </Empty>
      </Panel>
    </>
  );
}

export function PageFailed({ error, reset }: ErrorComponentProps) {
  return <ErrorNote error={error instanceof Error ? error : new Error(String(error))} onRetry={reset} />;
}
