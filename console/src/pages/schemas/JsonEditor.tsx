import { useImperativeHandle, useRef, type Ref } from "react";

export interface EditorHandle {
  /** Puts the cursor on a line, from 1, and shows it. */
  goTo: (line: number) => void;
}

interface Props {
  label: string;
  value: string;
  onChange: (value: string) => void;
  badLine: number | null;
  handle: Ref<EditorHandle>;
  readOnly?: boolean;
}

const LINE_PX = 20;

/** A text field with line numbers. Tab moves the focus, as in every other field. */
export function JsonEditor({ label, value, onChange, badLine, handle, readOnly = false }: Props) {
  const area = useRef<HTMLTextAreaElement>(null);
  const numbers = useRef<HTMLDivElement>(null);
  const count = value.split("\n").length;

  useImperativeHandle(handle, () => ({
    goTo: (line) => {
      const field = area.current;
      if (field === null) return;
      const start = value.split("\n").slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
      field.focus();
      field.setSelectionRange(start, start);
      field.scrollTop = Math.max(0, (line - 4) * LINE_PX);
    },
  }));

  return (
    <div className="flex h-[min(34rem,70dvh)] overflow-hidden rounded-md border border-line-strong bg-panel font-mono text-xs leading-5">
      <div ref={numbers} aria-hidden className="w-12 shrink-0 overflow-hidden bg-raised py-2 text-right text-muted select-none">
        {Array.from({ length: count }, (_, index) => (
          <div key={index} className={index + 1 === badLine ? "bg-bad-soft pr-2 font-semibold text-bad" : "pr-2"}>
            {index + 1}
          </div>
        ))}
      </div>
      <textarea
        ref={area}
        aria-label={label}
        aria-invalid={badLine !== null}
        spellCheck={false}
        wrap="off"
        readOnly={readOnly}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        onScroll={(event) => {
          if (numbers.current) numbers.current.scrollTop = event.currentTarget.scrollTop;
        }}
        className="min-w-0 flex-1 resize-none bg-transparent px-3 py-2 leading-5 outline-offset-[-2px]"
      />
    </div>
  );
}
