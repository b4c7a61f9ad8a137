import type { DryWindow } from "@/api/sessions";
import { Badge } from "@/ui/Badge";
import { counted, extractorInWords, formatScore, inWords } from "@/ui/format";
import { Moment } from "@/ui/Moment";
import { Empty } from "@/ui/states";
import { Value } from "@/ui/Value";

/** What an extraction would store, one part for each window. */
export function PreviewView({ windows }: { windows: DryWindow[] }) {
  return (
    <div role="group" aria-label="Outcome of the dry run" className="space-y-4">
      {windows.map((window, index) => (
        <WindowPart key={index} window={window} />
      ))}
    </div>
  );
}

function WindowPart({ window }: { window: DryWindow }) {
  const { events, patches, dropped } = window;
  return (
    <section className="space-y-3 rounded-md border p-3">
      <p className="text-xs text-muted">
        {counted(window.messages.length, "message")}, {counted(events.length, "event")} and {counted(patches.length, "patch")} by {extractorInWords(window.extractor)};{" "}
        {window.usage.length === 0 && "with a model, "}the prompt {window.usage.length === 0 ? "would have" : "has"} {counted(window.prompt_tokens, "token")}
      </p>
      {events.length + patches.length === 0 && <Empty title="The extraction found nothing to store" />}
      {events.length > 0 && (
        <ul aria-label="Events" className="space-y-2">
          {events.map((event, index) => (
            <li key={index} className="text-sm">
              <p>{event.content}</p>
              <p className="mt-0.5 flex flex-wrap items-center gap-x-2 gap-y-1 text-xs text-muted">
                <Badge>{event.type}</Badge>
                <Moment at={event.event_time} />
                <span>importance {formatScore(event.importance)}</span>
                <span>messages {event.message_ids.join(", ")}</span>
              </p>
            </li>
          ))}
        </ul>
      )}
      {patches.length > 0 && (
        <ul aria-label="Patches" className="space-y-1.5">
          {patches.map((patch, index) => (
            <li key={index} className="grid gap-x-3 text-sm sm:grid-cols-[14rem_1fr]">
              <code className="font-mono text-xs text-muted">
                {patch.entity_type}/{patch.entity_key}.{patch.field}
              </code>
              <span>
                {patch.search && (
                  <>
                    <del className="text-muted">{patch.search}</del> →{" "}
                  </>
                )}
                <Value value={patch.replace} />
              </span>
            </li>
          ))}
        </ul>
      )}
      {dropped.length > 0 && (
        <p className="text-xs text-muted">Dropped: {dropped.map((drop) => `${drop.what}, ${inWords(drop.reason)} (${drop.names?.length ? drop.names.join(", ") : drop.count})`).join("; ")}</p>
      )}
    </section>
  );
}
