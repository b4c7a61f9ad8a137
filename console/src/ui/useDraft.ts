import { useState } from "react";

/**
 * What is entered in a form, until it is sent. It starts again when what it was made from changes, for example by going back.
 * The form itself stays, and with it the focus: a key that changes would make new fields.
 */
export function useDraft<Draft extends object>(initial: Draft): [Draft, (draft: Draft) => void] {
  const source = JSON.stringify(initial);
  const [draft, setDraft] = useState(initial);
  const [before, setBefore] = useState(source);
  if (before !== source) {
    setBefore(source);
    setDraft(initial);
  }
  return [draft, setDraft];
}
