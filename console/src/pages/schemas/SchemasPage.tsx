import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";

import { methodQuery, revisionsQuery, schemaQuery } from "@/api/schemas";
import { usePrincipal } from "@/api/session";
import { useTenant } from "@/shell/tenant";
import { PageHeader, Panel } from "@/ui/Panel";
import { QueryState } from "@/ui/states";

import { Choices } from "./Choices";
import { EXAMPLE, pretty } from "./draft";
import { Generations } from "./Generations";
import { MethodDocument } from "./MethodDocument";
import { SchemaEditor } from "./SchemaEditor";

const route = getRouteApi("/schemas");

export function SchemasPage() {
  const principal = usePrincipal();
  const tenant = useTenant();
  return (
    <>
      <PageHeader title="Schemas and methods" purpose="What is extracted, and how it is archived and managed. Edit a schema, check it, and preview what it extracts, before anybody uses it." />
      {principal.kind === "operator" && tenant && <Generations key={tenant} tenant={tenant} />}
      <div className="grid items-start grid-cols-1 gap-4 lg:grid-cols-[17rem_minmax(0,1fr)]">
        <Choices />
        <Chosen />
      </div>
    </>
  );
}

function Chosen() {
  const principal = usePrincipal();
  const { schema, method } = route.useSearch();
  const revisions = useQuery(revisionsQuery(principal));
  if (method) return <Method key={method} name={method} />;
  if (!revisions.data) {
    return (
      <Panel>
        <QueryState query={revisions}>{() => null}</QueryState>
      </Panel>
    );
  }
  const known = revisions.data.map((each) => each.schema);
  if (schema === "new") return <SchemaEditor key="new" title="New schema" initial={pretty(EXAMPLE)} known={known} />;
  const first = revisions.data.find((each) => each.in_force) ?? revisions.data[0];
  const name = schema ?? first?.schema;
  return name ? <Schema key={name} name={name} known={known} /> : <Panel>There is no schema yet.</Panel>;
}

function Schema({ name, known }: { name: string; known: string[] }) {
  const query = useQuery(schemaQuery(usePrincipal(), name));
  return (
    <div className="min-w-0 space-y-4">
      <QueryState query={query}>{(schema) => <SchemaEditor title={schema.schema} initial={pretty(schema.content)} known={[...known, schema.schema]} />}</QueryState>
    </div>
  );
}

function Method({ name }: { name: string }) {
  const query = useQuery(methodQuery(usePrincipal(), name));
  return (
    <div className="min-w-0 space-y-4">
      <QueryState query={query}>{(method) => <MethodDocument name={method.method} initial={pretty(method.content)} />}</QueryState>
    </div>
  );
}
