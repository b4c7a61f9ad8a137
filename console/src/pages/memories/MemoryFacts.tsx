import { Link } from "@tanstack/react-router";

import type { Memory } from "@/api/memories";
import { Badge, Badges } from "@/ui/Badge";
import { Code } from "@/ui/Code";
import { Facts } from "@/ui/Facts";
import { counted, extractorInWords, formatScore, inWords, readableKey } from "@/ui/format";
import { Moment } from "@/ui/Moment";
import { Value } from "@/ui/Value";

import { MemoryLink } from "./MemoryLink";

/** Whether recalls leave a memory out already: it has expired, or is invalid or distrusted. */
const isOver = (expiresAt: string | null | undefined): boolean => !!expiresAt && Date.parse(expiresAt) <= Date.now();

interface WrittenText {
  /** The model that wrote the text; without a model `rule` or `extract`. */
  by: string;
  pending: number;
  stale: boolean;
}

export function MemoryFacts({ memory }: { memory: Memory }) {
  const properties = Object.entries(memory.properties);
  return (
    <div className="space-y-5">
      <Facts
        items={[
          ["Id", <Code key="id" text={memory.id} />],
          ["User", memory.user],
          [
            "Session",
            memory.session && (
              <Link to="/sessions" search={{ session: memory.session }} className="text-accent underline">
                {memory.session}
              </Link>
            ),
          ],
          [
            "Entity",
            memory.kind === "entity" && memory.entity_key && (
              <Link to="/entities" search={{ entity: `${memory.type}/${memory.entity_key}` }} className="text-accent underline">
                {memory.type}/{readableKey(memory.entity_key)}
              </Link>
            ),
          ],
          ["Happened", memory.date ?? <Moment key="time" at={memory.event_time} />],
          ["Said", memory.said_at && <Moment at={memory.said_at} />],
          ["Original sentence", memory.said],
          ["Updates entities", memory.entity_keys?.map(readableKey).join(", ")],
          ["Importance", memory.kind === "event" && formatScore(memory.importance)],
          [isOver(memory.expires_at) ? "Left out since" : "Expires", memory.expires_at && <Moment at={memory.expires_at} />],
          ["Extracted by", memory.extractor && extractorInWords(memory.extractor)],
          ["Trust", memory.trust && <Badge tone="warn">{memory.trust}</Badge>],
          ["Part of", memory.parent && <MemoryLink id={memory.parent} />],
          ["Generation", memory.generation || "first"],
          ["Version", memory.version],
          ["Keywords", memory.keywords.length > 0 && <Badges names={memory.keywords} />],
        ]}
      />
      {properties.length > 0 && (
        <section>
          <h3 className="mb-2 text-xs font-semibold text-muted">Properties</h3>
          <Facts items={properties.map(([name, value]) => [name, <Value key={name} value={value} />])} />
        </section>
      )}
      <Written texts={memory.written as Record<string, WrittenText> | null | undefined} />
      {memory.links && memory.links.length > 0 && (
        <section>
          <h3 className="mb-2 text-xs font-semibold text-muted">Links</h3>
          <ul className="space-y-1 text-sm">
            {memory.links.map((link, index) => (
              <li key={index}>
                {inWords(String(link.relation))} <MemoryLink id={String(link.id)} />
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}

/** Who wrote the texts of an entity or a summary, and whether they are up to date. */
function Written({ texts }: { texts: Record<string, WrittenText> | null | undefined }) {
  const entries = Object.entries(texts ?? {});
  if (entries.length === 0) return null;
  return (
    <section>
      <h3 className="mb-2 text-xs font-semibold text-muted">How its texts were written</h3>
      <Facts
        items={entries.map(([name, { by, pending, stale }]) => [
          inWords(name),
          [
            by === "rule" || by === "extract" ? "by a rule, without a model" : `by ${by}`,
            pending > 0 && `${counted(pending, "newer statement")} not merged yet`,
            stale && "part of its evidence was retracted later",
          ]
            .filter(Boolean)
            .join("; "),
        ])}
      />
    </section>
  );
}
