"""Grows a tree: inserts and retracts leaves, and keeps the number of nodes bounded (MemTree, section 3).

A new leaf descends from the root to the most similar child, while their cosine exceeds ``base * exp(rate * depth / max depth)`` at the
depth of the parent, and becomes a child of the node that it reaches. If it reaches a leaf, an inner node takes the leaf's place and has
both as children.

At the bound, the oldest node without children is merged into its parent, and one at the top leaves the tree. Its events stay memories.
"""

from dataclasses import dataclass
from math import exp
from typing import Final

import numpy as np

from operators.errors import RefusedChangeError
from operators.tree.nodes import NAMED, ROOT, Node, NodeEvent, Nodes, Whole, above, children_of, cosines, read_vector, written_vector

_KEPT_TEXTS: Final = 3
"""Events of a merged leaf that keep their texts, for the extract."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The parameters of a tree."""

    base: float
    rate: float
    max_depth: int
    """Most nodes from the top down to a leaf, the leaf included."""
    max_nodes: int

    def threshold(self, depth: int) -> float:
        """The cosine that a leaf must exceed to descend from a node to its most similar child.

        Args:
            depth: The depth of the node; the root's is 0.
        """
        return self.base * exp(self.rate * depth / self.max_depth)


@dataclass(frozen=True, slots=True)
class Tree:
    """All nodes of a tree."""

    nodes: Nodes
    unnamed: int = 0
    """Number of events that left the tree at the top."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left of any event."""
        return not self.nodes and not self.unnamed


def inserted(tree: Tree, events: list[NodeEvent], vector: Whole, shape: Shape, *, position: str) -> Tree:
    """The tree with a new leaf.

    Args:
        tree: The tree; not changed.
        events: The leaf's events, at least one. The first names the leaf.
        vector: The sum of their vectors.
        shape: The tree's parameters.
        position: The log position of the change.

    Raises:
        RefusedChangeError: ``other_dimension``, if the tree's vectors are of another embedding model.
    """
    growing = _Growing(tree)
    growing.insert(events, vector, shape, position)
    growing.bound(shape.max_nodes)
    return growing.tree


def retracted(tree: Tree, event_id: str, vector: Whole, *, position: str) -> Tree:
    """The tree without an event. A node without events is removed, and one with a single child is replaced by the child.

    Args:
        tree: The tree; not changed.
        event_id: The event.
        vector: Its vector.
        position: The log position of the change.

    Raises:
        RefusedChangeError: ``not_applied``, if the event is not in the tree.
    """
    growing = _Growing(tree)
    growing.retract(event_id, vector, position)
    return growing.tree


class _Growing:
    """A tree while it changes."""

    def __init__(self, tree: Tree) -> None:
        self._nodes: dict[str, Node] = dict(tree.nodes)
        self._unnamed = tree.unnamed

    @property
    def tree(self) -> Tree:
        return Tree(self._nodes, self._unnamed)

    def insert(self, events: list[NodeEvent], vector: Whole, shape: Shape, position: str) -> None:
        place = 1 + max((node["place"] for node in self._nodes.values()), default=0)
        key = self._new_key(events[0]["id"])
        parent = self._descend(vector, shape, key, position)
        self._nodes[key] = Node(
            parent=parent,
            inner=False,
            vector=written_vector(vector),
            count=len(events),
            place=place,
            since=position,
            events=events[-NAMED:],
            unnamed=max(0, len(events) - NAMED),
        )
        for each in above(self._nodes, key):
            self._add(each, vector, len(events), place=place)

    def retract(self, event_id: str, vector: Whole, position: str) -> None:
        key = next((key for key, node in self._nodes.items() if any(each["id"] == event_id for each in node["events"])), None)
        if key is None:
            self._retract_unnamed(position)
            return
        upward = list(above(self._nodes, key))
        node = self._nodes[key]
        remaining = [each for each in node["events"] if each["id"] != event_id]
        self._nodes[key] = {**node, "events": remaining}
        for each in (key, *upward):
            self._add(each, -vector, -1, since=position)
        for each in (key, *upward):
            self._simplify(each)

    def bound(self, most: int) -> None:
        """Merges the oldest nodes into their parents until the tree has at most so many."""
        while len(self._nodes) > most:
            parents = {node["parent"] for node in self._nodes.values()}
            self._merge(min((node["place"], key) for key, node in self._nodes.items() if key not in parents)[1])

    def _descend(self, vector: Whole, shape: Shape, key: str, position: str) -> str:
        """The parent of a new leaf."""
        children = children_of(self._nodes)
        parent, depth = ROOT, 0
        while names := children.get(parent):
            found = cosines(vector, [self._nodes[each] for each in names])
            best = float(found.max())
            if best <= shape.threshold(depth):
                break
            nearest = min(names[index] for index in np.flatnonzero(found == best))
            if self._nodes[nearest]["inner"]:
                parent, depth = nearest, depth + 1
            elif depth + 2 > shape.max_depth:
                break
            else:
                return self._expanded(nearest, key, position)
        return parent

    def _expanded(self, leaf: str, key: str, position: str) -> str:
        """Puts an inner node in the place of a leaf, with the leaf below it."""
        node = self._nodes[leaf]
        inner = self._new_key(f"{key}+")
        self._nodes[inner] = {**node, "inner": True, "since": position, "events": [], "unnamed": 0}
        self._nodes[leaf] = {**node, "parent": inner}
        return inner

    def _new_key(self, wanted: str) -> str:
        """A key that no node has: an event may return while a node that it made is still there."""
        key = wanted
        while key in self._nodes:
            key += "+"
        return key

    def _add(self, key: str, vector: Whole, count: int, *, place: int | None = None, since: str | None = None) -> None:
        node = self._nodes[key]
        numbers = read_vector(node["vector"])
        if len(numbers) != len(vector):
            raise RefusedChangeError("other_dimension")
        changed: Node = {**node, "vector": written_vector(numbers + vector), "count": node["count"] + count}
        if place is not None:
            changed["place"] = place
        if since is not None:
            changed["since"] = since
        self._nodes[key] = changed

    def _simplify(self, key: str) -> None:
        """Removes a node that has no events; replaces an inner node by its child if that has all of its events; else corrects its place."""
        node = self._nodes[key]
        if node["count"] <= 0:
            del self._nodes[key]
            return
        below = [each for each, child in self._nodes.items() if child["parent"] == key]
        if len(below) == 1 and self._nodes[below[0]]["count"] == node["count"]:
            self._nodes[below[0]] = {**self._nodes[below[0]], "parent": node["parent"]}
            del self._nodes[key]
        elif below:
            self._nodes[key] = {**node, "place": max(self._nodes[each]["place"] for each in below)}

    def _merge(self, key: str) -> None:
        node = self._nodes.pop(key)
        if node["parent"] == ROOT:
            self._unnamed += len(node["events"]) + node["unnamed"]
            return
        parent = self._nodes[node["parent"]]
        events = [*parent["events"], *node["events"]]
        unnamed = parent["unnamed"] + node["unnamed"] + max(0, len(events) - NAMED)
        self._nodes[node["parent"]] = {**parent, "events": _with_few_texts(events[-NAMED:]), "unnamed": unnamed}

    def _retract_unnamed(self, position: str) -> None:
        """Any node with unnamed events may have had it: their texts are not used any more."""
        holders = sorted(key for key, node in self._nodes.items() if node["unnamed"])
        if not holders and not self._unnamed:
            raise RefusedChangeError("not_applied")
        touched = {each for key in holders for each in (key, *above(self._nodes, key))}
        for key in touched:
            self._nodes[key] = {**self._nodes[key], "since": position}
        if self._unnamed:
            self._unnamed -= 1
            return
        largest = max(holders, key=lambda key: (self._nodes[key]["unnamed"], key))
        upward = [largest, *above(self._nodes, largest)]
        self._nodes[largest] = {**self._nodes[largest], "unnamed": self._nodes[largest]["unnamed"] - 1}
        for key in upward:
            self._nodes[key] = {**self._nodes[key], "count": self._nodes[key]["count"] - 1}
        for key in upward:
            self._simplify(key)


def _with_few_texts(events: list[NodeEvent]) -> list[NodeEvent]:
    """Events of which only the most important keep their texts."""
    ranked = sorted((each for each in events if each["text"]), key=lambda each: (-each["rank"], -each["time"], each["id"]))
    kept = {each["id"] for each in ranked[:_KEPT_TEXTS]}
    return [each if each["id"] in kept or not each["text"] else {**each, "text": ""} for each in events]
