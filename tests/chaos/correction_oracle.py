"""The manual corrections that are in force, according to the extractions log."""

from collections import defaultdict

from pydantic import JsonValue

from memory.records import Correction


class CorrectionOracle:
    """Makes corrections of events in the order of the log, each once."""

    def __init__(self) -> None:
        self._standing: defaultdict[str, list[Correction]] = defaultdict(list)
        self._known: set[str] = set()

    def __len__(self) -> int:
        return len(self._known)

    def make(self, correction: Correction) -> bool:
        """Makes a correction; returns whether the event has changed."""
        standing = self._standing[correction.memory_id]
        if correction.id in self._known or (correction.action == "revert" and not standing):
            return False
        self._known.add(correction.id)
        if correction.action == "revert":
            standing.pop()
            return True
        if standing and self._has(correction):
            return False
        standing.append(correction)
        return True

    def _has(self, correction: Correction) -> bool:
        """Whether an event that was corrected before is already as a correction makes it."""
        event = correction.memory_id
        if correction.action == "invalidate" or not self.is_valid(event):
            return correction.action == "invalidate" and not self.is_valid(event)
        properties = self.properties(event)
        return {**properties, **(correction.fields.properties or {})} == properties

    def is_valid(self, event_id: str) -> bool:
        """Whether an event was not invalidated, or holds again."""
        standing = self._standing.get(event_id)
        return not standing or standing[-1].action != "invalidate"

    def properties(self, event_id: str) -> dict[str, JsonValue]:
        """The properties that corrections have set, and that are in force."""
        properties: dict[str, JsonValue] = {}
        for each in self._standing.get(event_id, ()):
            properties |= each.fields.properties or {}
        return properties
