import type { ReactNode } from "react";

import { Moment } from "./Moment";
import { Badge } from "./Badge";

export interface ShownMessage {
  id: string;
  session?: string | null;
  speaker?: string | null;
  role?: string | null;
  text: string;
  event_time?: string | null;
}

/** Original messages, oldest first as given. */
interface Props {
  messages: ShownMessage[];
  label: string;
  /** Shows the id of a message. Default: the id alone. */
  renderId?: (message: ShownMessage) => ReactNode;
}

export function MessageList({ messages, label, renderId }: Props) {
  return (
    <ol aria-label={label} className="space-y-2">
      {messages.map((message, index) => (
        <li key={`${message.session ?? ""}/${message.id}/${index}`} className="rounded-md border px-3 py-2">
          <p className="mb-0.5 flex flex-wrap items-center gap-x-2 gap-y-0.5 text-xs text-muted">
            <span className="font-medium text-ink">{message.speaker || message.role || "Message"}</span>
            {message.role && message.role !== "user" && <Badge>{message.role}</Badge>}
            <Moment at={message.event_time} />
            <span className="ml-auto">{renderId ? renderId(message) : <code className="font-mono">{message.id}</code>}</span>
          </p>
          <p dir="auto" className="text-sm break-words whitespace-pre-line">{message.text}</p>
        </li>
      ))}
    </ol>
  );
}
