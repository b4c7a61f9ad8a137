import { Moment } from "./Moment";
import { Badge } from "./Badge";
import { cx } from "./classes";

export interface ShownMessage {
  id: string;
  session?: string | null;
  speaker?: string | null;
  role?: string | null;
  text: string;
  event_time?: string | null;
}

/** Original messages, oldest first as given. */
export function MessageList({ messages, label, marked }: { messages: ShownMessage[]; label: string; marked?: ReadonlySet<string> }) {
  return (
    <ol aria-label={label} className="space-y-2">
      {messages.map((message, index) => (
        <li key={`${message.session ?? ""}/${message.id}/${index}`} className={cx("rounded-md border px-3 py-2", marked?.has(message.id) && "border-accent bg-accent-soft")}>
          <p className="mb-0.5 flex flex-wrap items-center gap-x-2 gap-y-0.5 text-xs text-muted">
            <span className="font-medium text-ink">{message.speaker || message.role || "Message"}</span>
            {message.role && message.role !== "user" && <Badge>{message.role}</Badge>}
            <Moment at={message.event_time} />
            <code className="ml-auto font-mono">{message.session ? `${message.session}/${message.id}` : message.id}</code>
          </p>
          <p dir="auto" className="text-sm break-words whitespace-pre-line">{message.text}</p>
        </li>
      ))}
    </ol>
  );
}
