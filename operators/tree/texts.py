"""Texts that a model wrote about a tree's nodes, and the open questions.

An outcome names the log position of its question. It is valid until an event leaves its node: events that arrive later make it stale, not
wrong. A stale text is written again once the node has grown by half, so a node with n events is written about log n times.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from operators.llm.llm_operator import Moment
from operators.llm.summary_operator import Text, Texts
from operators.tree.nodes import Node, Nodes, above


@dataclass(frozen=True, slots=True)
class NodeTexts(Texts):
    """Texts and open questions by the keys of nodes. A text has ``since``, ``count`` and ``place`` of the node at the question."""

    @staticmethod
    def subject_of(text: Text) -> str:
        """See :meth:`Texts.subject_of`: the state of the node."""
        return state_of(text)

    def text_of(self, key: str, node: Node) -> Text | None:
        """The valid text of a node; None if there is none."""
        text = self.written.get(key)
        return text if text is not None and text["since"] == node["since"] else None

    def planned(self, nodes: Nodes, moment: Moment, *, most: int) -> tuple["NodeTexts", list[str], list[str]]:
        """Plans the questions after a batch of changes.

        Args:
            nodes: The nodes.
            moment: The time and log position of the batch.
            most: Most questions of the batch.

        Returns:
            The new texts; the keys of the nodes to ask about; the keys of the texts that are no longer needed.
        """
        ahead = self._ahead_of(moment)
        written = {key: text for key, text in self.written.items() if key in ahead or self._is_valid(key, nodes)}
        asked = {key: state for key, state in self.asked.items() if key in nodes}
        after = NodeTexts(written, asked)
        wanted = after._stale(nodes)[:most] if after.may_ask(moment) else []
        asked |= {key: state_of(nodes[key]) for key in wanted}
        return NodeTexts(written, asked), wanted, sorted(self.written.keys() - written.keys())

    def valid(self, nodes: Nodes) -> "NodeTexts":
        """Keeps only valid texts."""
        return NodeTexts({key: text for key, text in self.written.items() if self._is_valid(key, nodes)}, self.asked)

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
