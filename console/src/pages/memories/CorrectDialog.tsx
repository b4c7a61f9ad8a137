import { useState } from "react";

import type { Schemas } from "@/api/client";
import { useCorrect } from "@/api/memories";
import { Dialog } from "@/ui/Dialog";
import { DialogForm } from "@/ui/DialogForm";
import { TextArea, TextField } from "@/ui/Field";
import { notify } from "@/ui/notices";

import type { ChangeProps } from "./changes";

/** Replaces fields of a memory. Only changed fields are sent. */
export function CorrectDialog({ memory, onClose, onDone }: ChangeProps) {
  const change = useCorrect(memory.id);
  const isEvent = memory.kind === "event";
  const firstProperties = JSON.stringify(memory.properties, null, 2);
  const firstKeywords = memory.keywords.join(", ");
  const [content, setContent] = useState(memory.content);
  const [properties, setProperties] = useState(firstProperties);
  const [keywords, setKeywords] = useState(firstKeywords);
  const [importance, setImportance] = useState(String(memory.importance));
  const [reason, setReason] = useState("");
  const parsed = parseObject(properties);

  const submit = () => {
    const body: Schemas["CorrectionBody"] = { reason: reason.trim() };
    if (isEvent && content !== memory.content) body.content = content;
    if (properties !== firstProperties && parsed !== null) body.properties = withRemovals(memory.properties, parsed) as Schemas["CorrectionBody"]["properties"];
    if (isEvent && keywords !== firstKeywords) body.keywords = keywords.split(",").map((word) => word.trim()).filter(Boolean);
    if (isEvent && Number(importance) !== memory.importance) body.importance = Number(importance);
    change.mutate(body, {
      onSuccess: ({ outcome, remaining }) => {
        if (outcome !== "unchanged") return onDone("The correction is stored", remaining);
        notify("The memory already has these values. Nothing was recorded.");
        onClose();
      },
    });
  };
  const isUnchanged = content === memory.content && properties === firstProperties && keywords === firstKeywords && Number(importance) === memory.importance;

  return (
    <Dialog title="Correct this memory" onClose={onClose}>
      <DialogForm action="Save the correction" disabled={parsed === null || isUnchanged} change={change} onSubmit={submit} onClose={onClose}>
        {isEvent && <TextArea label="Content" rows={3} maxLength={4000} required value={content} onChange={(event) => setContent(event.target.value)} />}
        <TextArea
          label="Properties (JSON)"
          mono
          rows={6}
          spellCheck={false}
          value={properties}
          error={parsed === null ? "This is not a JSON object." : null}
          hint="A property that you remove here is removed from the memory."
          onChange={(event) => setProperties(event.target.value)}
        />
        {isEvent && (
          <div className="grid gap-3 sm:grid-cols-[1fr_7rem]">
            <TextField label="Keywords, separated by commas" value={keywords} onChange={(event) => setKeywords(event.target.value)} />
            <TextField label="Importance" type="number" min={0} max={1} step="any" value={importance} onChange={(event) => setImportance(event.target.value)} />
          </div>
        )}
        <TextField label="Reason (optional, stored with the change)" maxLength={500} value={reason} onChange={(event) => setReason(event.target.value)} />
      </DialogForm>
    </Dialog>
  );
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/** The changed properties; null for removed ones. */
function withRemovals(before: Record<string, unknown>, after: Record<string, unknown>): Record<string, unknown> {
  const changes: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(after)) {
    if (JSON.stringify(value) !== JSON.stringify(before[name])) changes[name] = value;
  }
  for (const name of Object.keys(before)) {
    if (!(name in after)) changes[name] = null;
  }
  return changes;
}
