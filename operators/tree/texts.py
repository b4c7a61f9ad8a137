"""Texts that a model wrote about a tree's nodes, and the open questions (ADR 25).

An outcome names the log position of its question. It is valid until an event leaves its node: events that arrive later make it stale, not
wrong. A stale text is written again once the node has grown by half, so a node with n events is written about log n times.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from operators.applied_positions import last_positions, reaches
from operators.llm.llm_operator import Moment
from operators.tree.nodes import Node, Nodes, above

Text = dict[str, Any]
"""``since``, ``count`` and ``place`` of the node at the question; ``known``: by source, the last position that the entity had applied then;
``text`` and ``by``: the text and its author; no text if no model could write one."""


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts and open questions by the keys of nodes. Immutable."""

    written: Mapping[str, Text] = field(default_factory=dict)
    asked: Mapping[str, str] = field(default_factory=dict)
    """The state of the node at each open question, from :func:`state_of`."""

    def text_of(self, key: str, node: Node) -> Text | None:
        """The valid text of a node; None if there is none."""
        text = self.written.get(key)
        return text if text is not None and text["since"] == node["since"] else None

    def planned(self, nodes: Nodes, moment: Moment, *, most: int) -> tuple["Texts", list[str], list[str]]:
        """Plans the questions after a batch of changes.

        If a text covers more of the log than the entity has read, a rebuild is running, and it asks nothing. It also asks nothing at a
        log position whose questions were answered already. So one batch of changes has at most ``most`` questions, and a rebuild none.

        Args:
            nodes: The nodes.
            moment: The time and log position of the batch.
            most: Most questions of the batch.

        Returns:
            The new texts; the keys of the nodes to ask about; the keys of the texts that are no longer needed.
        """
        known = last_positions(moment.sources)
        ahead = {key for key, text in self.written.items() if not reaches(known, text["known"])}
        written = {key: text for key, text in self.written.items() if key in ahead or self._is_valid(key, nodes)}
        asked = {key: state for key, state in self.asked.items() if key in nodes}
        kept = Texts(written, asked)
        is_open = moment.has_llm and not ahead and all(text["known"] != known for text in written.values())
        wanted = kept._stale(nodes)[:most] if is_open else []
        asked |= {key: state_of(nodes[key]) for key in wanted}
        return Texts(written, asked), wanted, sorted(self.written.keys() - written.keys())

    def valid(self, nodes: Nodes) -> "Texts":
        """Keeps only valid texts."""
        return Texts({key: text for key, text in self.written.items() if self._is_valid(key, nodes)}, self.asked)

    def with_text(self, key: str, text: Text) -> "Texts":
        """The texts with an outcome; the same object if it has nothing new, and no question waits for it."""
        before = self.written.get(key)
        asked = self.asked
        if asked.get(key) == state_of(text):
            asked = {each: state for each, state in asked.items() if each != key}
        if before is not None and reaches(before["known"], text["known"]):
            return self if asked is self.asked else Texts(self.written, asked)
        return Texts({**self.written, key: text}, asked)

    def _is_valid(self, key: str, nodes: Nodes) -> bool:
        return key in nodes and self.text_of(key, nodes[key]) is not None

    def _stale(self, nodes: Nodes) -> list[str]:
        """The nodes to ask about: first those that have changed most, of these first the deepest."""
        found: list[tuple[float, int, str]] = []
        for key, node in nodes.items():
            if node["count"] < 2 or key in self.asked:
                continue
            text = self.text_of(key, node)
            changed = node["count"] - (0 if text is None else text["count"])
            if text is None or 2 * changed >= text["count"]:
                found.append((-changed / node["count"], -sum(1 for _ in above(nodes, key)), key))
        return [key for _, _, key in sorted(found)]


def state_of(node: Mapping[str, Any]) -> str:
    """Names the state of a node that a question or a text is about."""
    return f"{node['since']} {node['count']} {node['place']}"
