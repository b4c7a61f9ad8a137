import { Check, Copy } from "lucide-react";
import { useState } from "react";

import { copy } from "./clipboard";
import { notify } from "./notices";

/** An id or another exact text, with a button that copies it. */
export function Code({ text, short = false }: { text: string; short?: boolean }) {
  const [copied, setCopied] = useState(false);
  return (
    <span className="inline-flex max-w-full items-center gap-1">
      <code className="min-w-0 truncate font-mono text-xs" title={text}>
        {short ? text.slice(0, 8) : text}
      </code>
      <button
        type="button"
        aria-label={copied ? "Copied" : `Copy ${text}`}
        className="rounded p-1 text-muted hover:bg-raised hover:text-ink"
        onClick={() => {
          void copy(text).then((isCopied) => (isCopied ? setCopied(true) : notify("The browser does not allow copying. Select the text and copy it yourself.")));
        }}
        onBlur={() => setCopied(false)}
      >
        {copied ? <Check aria-hidden className="size-3.5" /> : <Copy aria-hidden className="size-3.5" />}
      </button>
    </span>
  );
}
