/** A name that an application chose, in one line, cut when it is long. */
export function Name({ text }: { text: string | null | undefined }) {
  if (text == null || text === "") return <span className="text-muted">–</span>;
  return (
    <span className="block max-w-40 truncate" title={text}>
      {text}
    </span>
  );
}
