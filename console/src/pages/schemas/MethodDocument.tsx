import { useQuery } from "@tanstack/react-query";
import { useDeferredValue, useRef, useState } from "react";

import { checkQuery, revisionsQuery, schemaQuery } from "@/api/schemas";
import { usePrincipal } from "@/api/session";
import { Button } from "@/ui/Button";
import { SelectField } from "@/ui/Field";
import { Panel } from "@/ui/Panel";
import { useSettled } from "@/ui/useSettled";

import { CheckView } from "./CheckView";
import { parseText } from "./draft";
import { JsonEditor, type EditorHandle } from "./JsonEditor";
import { PreviewPanel } from "./PreviewPanel";
import { useUnsaved } from "./useUnsaved";

/** Edits a memory method, checked together with a schema that it extends. */
export function MethodDocument({ name, initial }: { name: string; initial: string }) {
  const principal = usePrincipal();
  const [text, setText] = useState(initial);
  const [chosen, setChosen] = useState("");
  const editor = useRef<EditorHandle>(null);
  useUnsaved(text !== initial);
  const revisions = useQuery(revisionsQuery(principal));
  const names = revisions.data?.map((each) => each.schema) ?? [];
  const base = chosen || (revisions.data?.find((each) => each.in_force)?.schema ?? names[0] ?? "");
  const schema = useQuery({ ...schemaQuery(principal, base), enabled: base !== "" });
  const shown = useDeferredValue(text);
  const parsed = parseText(shown);
  const settled = useSettled(shown);
  const settledParsed = parseText(settled);
  const draft = settledParsed.error === null && schema.data ? { content: schema.data.content, method: settledParsed.value as Record<string, unknown> } : null;
  const check = useQuery(checkQuery(principal, draft));
  const isValid = settled === text && !check.isPlaceholderData && parsed.error === null && check.data?.valid === true;

  return (
    <div className="min-w-0 space-y-4">
      <Panel
        title={`Method ${name}`}
        note={text === initial ? "shipped with Varve" : "changed; pass the document to varve dev --method, or to an operator"}
        actions={
          <Button size="small" disabled={text === initial} onClick={() => setText(initial)}>
            Undo changes
          </Button>
        }
      >
        <div className="space-y-4">
          <JsonEditor label="Method as JSON" value={text} onChange={setText} badLine={parsed.error?.line ?? null} handle={editor} />
          <div className="grid grid-cols-1 gap-4 md:grid-cols-[14rem_minmax(0,1fr)]">
            <SelectField label="Extends the schema" options={names.map((each) => ({ value: each, label: each }))} value={base} onChange={(event) => setChosen(event.target.value)} />
            <div role="status" aria-label="Check">
              <CheckView parsed={parsed} check={check} lineOf={() => null} onGoTo={(line) => editor.current?.goTo(line)} />
            </div>
          </div>
        </div>
      </Panel>
      {principal.kind === "tenant" && <PreviewPanel draft={isValid ? draft : null} />}
    </div>
  );
}
