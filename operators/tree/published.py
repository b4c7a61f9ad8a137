"""The nodes of a tree as the memories that are stored, searched and returned.

A node with a single event is not published: the event is a separate memory, and its parent names it.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, timezone
from typing import Final

from pydantic import JsonValue

from memory.records import Memory, WrittenText
from memory.texts.text import first_that_fit, shortened
from memory.times import time_of_microseconds
from operators.publishing import BY_EXTRACT, Owner
from operators.tree.nodes import ROOT, NodeEvent, Nodes, above, below
from operators.tree.texts import NodeTexts

MAX_EXTRACT: Final = 600
"""Characters of an extract."""
MAX_LEAVES: Final = 60
"""Most events that a node names as its own or its leaves', and most messages that it names."""
_LEAST_EVENTS: Final = 2
_SEGMENT_EXTRACT: Final = 1200
"""Most characters of a segment's events together, of which an extract shows the most important."""
_LEAST_TEXT: Final = 100


def extract(events: Sequence[NodeEvent], most: int = MAX_EXTRACT) -> str:
    """The most important events' own words, in the order of time.

    If they are of several days, each has its day: the node's own date is that of its newest event, and "yesterday" must not count from it.

    Args:
        events: The events.
        most: Characters of the extract, unless a single event is longer.
    """
    ranked = sorted((each for each in events if each["text"]), key=lambda each: (-each["rank"], -each["time"], each["id"]))
    shown = first_that_fit(ranked, lambda each: len(each["text"]), most)
    shown.sort(key=lambda each: (each["time"], each["id"]))
    has_days = len({_day_of(each) for each in shown}) > 1
    return "; ".join(f"{f'{_day_of(each)} ' if has_days else ''}{each['text'].rstrip('.; ')}" for each in shown)


def days_of(events: Sequence[NodeEvent]) -> str:
    """The day of events, or the first and the last one with ``/`` between; empty if there is no event."""
    days = sorted(map(_day_of, events))
    return "/".join(dict.fromkeys((days[0], days[-1]))) if days else ""


def events_below(nodes: Nodes, key: str, children: Mapping[str, Sequence[str]]) -> list[NodeEvent]:
    """All events of a node that are still named."""
    return [event for each in below(key, children) for event in nodes[each]["events"]]


def extracted_events(nodes: Nodes, key: str, children: Mapping[str, Sequence[str]]) -> list[NodeEvent]:
    """As :func:`events_below`, with texts short enough that an extract has several events of each segment."""
    found = []
    for key_below in below(key, children):
        events = nodes[key_below]["events"]
        found += events if nodes[key_below]["inner"] else brief(events)
    return found


def brief(events: Sequence[NodeEvent]) -> list[NodeEvent]:
    """The events of a segment with equally bounded texts, for an extract."""
    most = max(_LEAST_TEXT, _SEGMENT_EXTRACT // max(1, len(events)))
    return [{**each, "text": shortened(each["text"], most)} for each in events]


def is_published(nodes: Nodes, key: str) -> bool:
    """Whether a node is a separate memory."""
    return nodes[key]["count"] >= _LEAST_EVENTS


def node_memory(nodes: Nodes, key: str, texts: NodeTexts, owner: Owner, children: Mapping[str, Sequence[str]]) -> Memory | None:
    """A node as a memory; None if it is not published, or none of its events is named any more.

    Args:
        nodes: The tree.
        key: The node.
        texts: The texts about nodes.
        owner: The tree's property.
        children: From :func:`operators.tree.nodes.children_of`.
    """
    events = events_below(nodes, key, children)
    if not is_published(nodes, key) or not events:
        return None
    node, text = nodes[key], texts.text_of(key, nodes[key])
    is_by_model = text is not None and bool(text["text"])
    own = [*node["events"], *(event for each in children.get(key, ()) if not is_published(nodes, each) for event in nodes[each]["events"])]
    newest = max(events, key=lambda each: (each["time"], each["id"]))
    properties: dict[str, JsonValue] = {
        "tree": owner.property_name,
        "node": key,
        "leaves": list[JsonValue](each["id"] for each in _newest_first(own))[:MAX_LEAVES],
        "event_count": node["count"],
        "written_by": text["by"] if text is not None and is_by_model else BY_EXTRACT,
    }
    extracted = text["text"] if text is not None and is_by_model else extract(extracted_events(nodes, key, children))
    is_asked = text is None and key in texts.asked
    return owner.summary(
        _name_of(key),
        content=extracted or owner.property_name.replace("_", " "),
        properties=properties,
        importance=max(each["rank"] for each in events) / 1000,
        event_time=_moment_of(newest),
        message_ids=list(dict.fromkeys(each for event in _newest_first(events) for each in event["messages"]))[:MAX_LEAVES],
        version=2 * node["count"] + (text is not None),
        parent=None if node["parent"] == ROOT else node_id(node["parent"], owner),
        depth=sum(1 for _ in above(nodes, key)),
        written=WrittenText(by=BY_EXTRACT, pending=node["count"]) if is_asked else None,
    )


def node_id(key: str, owner: Owner) -> str:
    """The id of a node's memory."""
    return owner.summary_id(_name_of(key))


def _name_of(key: str) -> str:
    return f"node {key}"


def _newest_first(events: Sequence[NodeEvent]) -> list[NodeEvent]:
    return sorted(events, key=lambda each: (-each["time"], each["id"]))


def _day_of(event: NodeEvent) -> str:
    """The local day of an event."""
    return time_of_microseconds(event["time"] + event["offset"]).date().isoformat()


def _moment_of(event: NodeEvent) -> datetime:
    """The time of an event, with its UTC offset."""
    return time_of_microseconds(event["time"]).astimezone(timezone(timedelta(microseconds=event["offset"])))
