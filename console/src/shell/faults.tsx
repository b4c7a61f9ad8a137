import { Link, type ErrorComponentProps } from "@tanstack/react-router";

import { Button } from "@/ui/Button";
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

/** Each browser has its own text for a module that could not be loaded. */
const MODULE_MISSING = /dynamically imported module|importing a module script|module script failed/i;

export function PageFailed({ error, reset }: ErrorComponentProps) {
  const failure = error instanceof Error ? error : new Error(String(error));
  if (!MODULE_MISSING.test(failure.message)) return <ErrorNote error={failure} onRetry={reset} />;
  return (
    <>
      <PageHeader title="The page could not be loaded" />
      <Panel>
        <Empty title="The service was upgraded, or does not answer">
          <p className="mb-3">After an upgrade, this page needs the new version of the console.</p>
          <Button tone="primary" onClick={() => window.location.reload()}>
            Reload
          </Button>
        </Empty>
      </Panel>
    </>
  );
}
