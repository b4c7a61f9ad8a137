"""Limits of a worker that extracts history again: its own budget, and a turn for each window."""

from typing import Protocol

from extraction.port import ExtractionContext, Extractor, ExtractorLayer
from memory.records import Extraction, Window
from memory.schema.model import MemorySchema
from models.llm.budget import Budget
from runtime.clocks import Clock


class Metering(Protocol):
    """The limits of a re-extraction."""

    @property
    def budget(self) -> Budget:
        """The budget of all model calls."""
        ...

    @property
    def clock(self) -> Clock:
        """The clock of the calls: it decides on which day's budget a call counts."""
        ...

    async def turn(self) -> None:
        """Waits until the next window may be extracted.

        Raises:
            streams.errors.TransientError: The worker is being stopped.
        """
        ...


class MeteredExtractor(ExtractorLayer):
    """An extractor that waits for its turn before each window.

    Args:
        extractor: Extracts.
        metering: Gives the turns.
    """

    def __init__(self, extractor: Extractor, metering: Metering) -> None:
        super().__init__(extractor)
        self._metering = metering

    async def extract(self, window: Window, schema: MemorySchema, context: ExtractionContext) -> Extraction:
        """See :meth:`Extractor.extract`."""
        await self._metering.turn()
        return await self._extractor.extract(window, schema, context)
