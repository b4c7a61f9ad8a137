"""The ledger of the events stage: what is published for each window, by which extraction, and which generations were dropped."""

from dataclasses import dataclass

import orjson

from memory.records import Contribution


@dataclass(frozen=True, slots=True)
class PublishedWindow:
    """What is published for one window in one generation."""

    position: int
    """The offset of the extraction; of a redriven one its original offset."""
    memory_ids: tuple[str, ...]
    contributions: tuple[Contribution, ...]


@dataclass(frozen=True, slots=True)
class DroppedGeneration:
    """A tenant's generation was dropped."""

    drops: int
    """How often. An extraction that bears less was begun before, and counts no more."""


class LedgerCodec:
    """Writes and reads :class:`PublishedWindow` and :class:`DroppedGeneration`."""

    def encode(self, state: PublishedWindow | DroppedGeneration) -> bytes:
        """The entry's bytes."""
        if isinstance(state, DroppedGeneration):
            return orjson.dumps({"drops": state.drops})
        return orjson.dumps(
            {
                "position": state.position,
                "memories": state.memory_ids,
                "contributions": [each.model_dump(mode="json", exclude_none=True) for each in state.contributions],
            }
        )

    def decode(self, raw: bytes) -> PublishedWindow | DroppedGeneration:
        """The entry that :meth:`encode` wrote."""
        fields = orjson.loads(raw)
        if "drops" in fields:
            return DroppedGeneration(fields["drops"])
        return PublishedWindow(
            fields["position"],
            tuple(fields["memories"]),
            tuple(Contribution.from_fields(each) for each in fields["contributions"]),
        )
