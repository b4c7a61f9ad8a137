"""The ledger of the events stage: what is published for each window, and by which extraction."""

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


class LedgerCodec:
    """Writes and reads :class:`PublishedWindow`."""

    def encode(self, state: PublishedWindow) -> bytes:
        """The entry's bytes."""
        return orjson.dumps(
            {
                "position": state.position,
                "memories": state.memory_ids,
                "contributions": [each.model_dump(mode="json", exclude_none=True) for each in state.contributions],
            }
        )

    def decode(self, raw: bytes) -> PublishedWindow:
        """The entry that :meth:`encode` wrote."""
        fields = orjson.loads(raw)
        return PublishedWindow(
            fields["position"],
            tuple(fields["memories"]),
            tuple(Contribution.from_fields(each) for each in fields["contributions"]),
        )
