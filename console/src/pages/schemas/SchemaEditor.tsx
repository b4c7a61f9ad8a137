import { useQuery } from "@tanstack/react-query";
import { useDeferredValue, useRef, useState } from "react";

import { checkQuery, methodsQuery } from "@/api/schemas";
import { hasRole, usePrincipal } from "@/api/session";
import { Button } from "@/ui/Button";
import { SelectField } from "@/ui/Field";
import { copy } from "@/ui/clipboard";
import { notify } from "@/ui/notices";
import { Panel } from "@/ui/Panel";
import { useSettled } from "@/ui/useSettled";

import { CheckView } from "./CheckView";
import { parseText } from "./draft";
import { JsonEditor, type EditorHandle } from "./JsonEditor";
import { lineOfPath } from "./locate";
import { PreviewPanel } from "./PreviewPanel";
import { nameOf, newestOf } from "./revisions";
import { SaveDialog } from "./SaveDialog";
import { useUnsaved } from "./useUnsaved";

interface Props {
  title: string;
  initial: string;
  /** The schemas that are known, such as `notes@2`. What is stored follows the newest of them. */
  known: string[];
}

/** Edits a schema. The service checks each state of the text that stays for a moment. */
export function SchemaEditor({ title, initial, known }: Props) {
  const principal = usePrincipal();
  const [text, setText] = useState(initial);
  const [method, setMethod] = useState("");
  const [isSaving, setIsSaving] = useState(false);
  // Those of the moment in which the editor was opened: the list may be read again meanwhile.
  const [newest, setNewest] = useState(() => newestOf(known));
  const editor = useRef<EditorHandle>(null);
  const allowLeaving = useUnsaved(text !== initial);
  const shown = useDeferredValue(text);
  const parsed = parseText(shown);
  const settled = useSettled(shown);
  const settledParsed = parseText(settled);
  const draft = settledParsed.error === null ? { content: settledParsed.value, method: method || null } : null;
  const check = useQuery(checkQuery(principal, draft));
  const methods = useQuery(methodsQuery(principal));
  const isCurrent = settled === text && !check.isPlaceholderData;
  const isValid = isCurrent && parsed.error === null && check.data?.valid === true;
  const problem = parsed.error === null && check.data?.valid === false ? check.data.problems[0] : undefined;
  const badLine = parsed.error?.line ?? (problem ? lineOfPath(shown, problem.path) : null);

  return (
    <div className="min-w-0 space-y-4">
      <Panel
        title={title}
        note={text === initial ? undefined : "changed, not stored"}
        actions={
          <>
            <Button size="small" disabled={text === initial} onClick={() => setText(initial)}>
              Undo changes
            </Button>
            {principal.kind === "operator" ? (
              <Button size="small" tone="primary" disabled={!isValid || !hasRole(principal, "admin")} onClick={() => setIsSaving(true)}>
                Store as a new revision
              </Button>
            ) : (
              <Button size="small" onClick={() => void copy(text).then((isCopied) => notify(isCopied ? "The schema is copied. An operator can store it." : "The browser does not allow copying. Select the text and copy it yourself."))}>
                Copy
              </Button>
            )}
          </>
        }
      >
        <div className="space-y-4">
          <JsonEditor label="Schema as JSON" value={text} onChange={setText} badLine={badLine} handle={editor} />
          <div className="grid grid-cols-1 gap-4 md:grid-cols-[14rem_minmax(0,1fr)]">
            <SelectField
              label="Extended by the method"
              options={[{ value: "", label: "The schema alone" }, ...(methods.data ?? []).map((each) => ({ value: each.method, label: each.method }))]}
              value={method}
              onChange={(event) => setMethod(event.target.value)}
            />
            <div role="status" aria-label="Check">
              <CheckView parsed={parsed} check={check} lineOf={(path) => lineOfPath(shown, path)} onGoTo={(line) => editor.current?.goTo(line)} />
            </div>
          </div>
        </div>
      </Panel>
      {principal.kind === "tenant" && <PreviewPanel draft={isValid ? draft : null} />}
      {isSaving && draft && (
        <SaveDialog
          content={draft.content}
          seen={newest[nameOf(draft.content)] ?? 0}
          onSeen={(revision) => setNewest({ ...newest, [nameOf(draft.content)]: revision })}
          onStored={allowLeaving}
          onClose={() => setIsSaving(false)}
        />
      )}
    </div>
  );
}
