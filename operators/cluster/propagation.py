"""Communities of a graph by label propagation (*Zep*, Rasmussen et al., 2025, section 2.3).

A new node takes a single step of label propagation: it joins the community that the plurality of its neighbours belongs to. Without such
neighbours it founds a community. These communities diverge from those of a complete run over time, so the paper refreshes them
periodically. Here a complete run follows whenever the number of nodes has doubled.

A community is named by its oldest node, so it keeps its name while members join. Ties go to the community with the older name. The result
depends only on the windows, their order, and the set of edges in each.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

_FIRST_REFRESH: Final = 8
"""Number of nodes at the first complete run."""
_MAX_ROUNDS: Final = 20
"""Most rounds of a complete run. It usually settles after three to five."""

Pair = tuple[str, str]
"""The two nodes of an edge."""


def communities_of(windows: Iterable[Sequence[Pair]]) -> list[list[str]]:
    """The communities of a graph, oldest first, each with its oldest node first and the others in the order of their arrival.

    Args:
        windows: The edges that each window adds. A pair that occurs several times has more weight.
    """
    graph = _Graph()
    for pairs in windows:
        graph.add(pairs)
    return graph.groups()


class _Graph:
    """A graph that grows window by window, and the community of each node."""

    def __init__(self) -> None:
        self._neighbours: dict[str, Counter[str]] = {}
        self._numbers: dict[str, int] = {}
        """The nodes in the order of their arrival."""
        self._labels: dict[str, int] = {}
        """By node: the number of the oldest node of its community."""
        self._refresh_at = _FIRST_REFRESH

    def add(self, pairs: Sequence[Pair]) -> None:
        new: set[str] = set()
        for one, other in pairs:
            new.update(each for each in (one, other) if each not in self._neighbours)
            mine, others = self._neighbours.setdefault(one, Counter()), self._neighbours.setdefault(other, Counter())
            if one != other:
                mine[other] += 1
                others[one] += 1
        # The most connected first: it founds the community that the others join.
        for node in sorted(new, key=lambda each: (-self._neighbours[each].total(), each)):
            number = self._numbers[node] = len(self._numbers)
            self._labels[node] = min(self._most_common(node), default=number)
        if len(self._numbers) >= self._refresh_at:
            self._refresh()
            self._refresh_at = 2 * len(self._numbers)

    def groups(self) -> list[list[str]]:
        found: dict[int, list[str]] = {}
        for node in self._numbers:
            found.setdefault(self._labels[node], []).append(node)
        return sorted(found.values(), key=lambda members: self._numbers[members[0]])

    def _most_common(self, node: str) -> list[int]:
        """The communities to which the most neighbours of a node belong; several if they tie."""
        votes: dict[int, int] = {}
        for neighbour, weight in self._neighbours[node].items():
            label = self._labels.get(neighbour)
            if label is not None:
                votes[label] = votes.get(label, 0) + weight
        most = max(votes.values(), default=0)
        return [label for label, count in votes.items() if count == most]

    def _refresh(self) -> None:
        """A complete run: each node starts alone, and takes the most common label of its neighbours until none changes.

        Nodes with few neighbours go first, so that the leaves of a hub follow it before hubs follow each other.
        """
        self._labels = dict(self._numbers)
        order = sorted(self._numbers, key=lambda each: (self._neighbours[each].total(), self._numbers[each]))
        for _ in range(_MAX_ROUNDS):
            has_changed = False
            for node in order:
                best = self._most_common(node)
                if best and self._labels[node] not in best:
                    self._labels[node] = min(best)
                    has_changed = True
            if not has_changed:
                break
        names = {label: number for node, number in reversed(self._numbers.items()) for label in (self._labels[node],)}
        self._labels = {node: names[label] for node, label in self._labels.items()}
