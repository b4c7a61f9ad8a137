/** Copies a text. Without HTTPS, browsers have no clipboard for pages; then a hidden field is copied from. Returns whether it worked. */
export async function copy(text: string): Promise<boolean> {
  if (navigator.clipboard as Clipboard | undefined) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      return false;
    }
  }
  const field = document.createElement("textarea");
  field.value = text;
  field.readOnly = true;
  field.className = "fixed opacity-0";
  const focused = document.activeElement;
  // A modal dialog lets only its own elements have the focus.
  (focused?.closest("dialog") ?? document.body).append(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return isCopied;
}
