let isDue = false;

/** Notes that another page was opened: its heading gets the focus once it is shown. */
export function requestPageFocus(): void {
  isDue = true;
}

/** Whether the heading that is now shown gets the focus. */
export function takePageFocus(): boolean {
  const was = isDue;
  isDue = false;
  return was;
}
