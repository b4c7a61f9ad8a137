/** Data as indented JSON. */
export function Json({ value, label }: { value: unknown; label: string }) {
  return (
    // A region that scrolls has to be reachable with the keyboard.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <pre role="region" aria-label={label} tabIndex={0} className="max-h-96 overflow-auto rounded-md bg-raised p-3 font-mono text-xs leading-5 whitespace-pre-wrap">
      {JSON.stringify(value, null, 2)}
    </pre>
  );
}
