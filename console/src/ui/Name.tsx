const WHOLE = 20;
const TAIL = 8;

/** A name that an application chose, in one line. A long one is cut in the middle: ids often differ at their end only. */
export function Name({ text }: { text: string | null | undefined }) {
  if (text == null || text === "") return <span className="text-muted">–</span>;
  if (text.length <= WHOLE) return <span className="whitespace-nowrap">{text}</span>;
  return (
    <>
      <span className="sr-only">{text}</span>
      <span aria-hidden className="flex max-w-36 lg:max-w-32 xl:max-w-52" title={text}>
        <span className="truncate">{text.slice(0, -TAIL)}</span>
        <span className="shrink-0 whitespace-pre">{text.slice(-TAIL)}</span>
      </span>
    </>
  );
}
