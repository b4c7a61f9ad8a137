"""The interface of every extractor, with or without an LLM."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from extraction.drafts import Draft
from memory.records import Extraction, Memory, NotedEvent, Window
from memory.schema.model import MemorySchema


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionContext:
    """The context of a window; its size does not grow with the history."""

    session_summary: str = ""
    entities: tuple[Memory, ...] = field(default=())
    """The entities that :meth:`Extractor.edited_entities` names, otherwise the five nearest to the window of each type (VikingMem 3.1)."""
    recalled_hashes: frozenset[str] = frozenset()
    """SHA-256 of contents that recalls returned lately to this user: their echo is not extracted again."""
    generation: str = ""
    attempt: int = 0
    """Counts up after an :class:`extraction.errors.UnusableAnswerError`: the LLM is asked again, without its answer cache."""
    session_events: tuple[NotedEvent, ...] = field(default=())
    """Events of the session's latest windows: they are not extracted again."""


class EntityName(NamedTuple):
    """An entity of a tenant's generation."""

    type: str
    key: str
    """See :func:`memory.keys.entity_key`."""


class Quotation(NamedTuple):
    """A message's text."""

    said: str
    """The speaker and their words."""
    search_text: str
    """The same with names and days resolved."""


Quotations = Callable[[Window, frozenset[str]], Mapping[int, Quotation]]
"""Quotes the messages of a window, by their indices, except those whose content hashes show that a recall returned them lately."""


StatedEvents = Callable[[Window, MemorySchema, frozenset[str]], Draft]
"""The events that a window's application states itself, by tool calls with the name of an event type: one for each such message, in
order; and the names of stated properties that do not fit the schema. The third argument has the content hashes of what recalls returned
lately."""


class Extractor(Protocol):
    """Turns a window into segments, events and patches."""

    @property
    def name(self) -> str:
        """``offline``, or ``llm:`` and the model's name."""
        ...

    def edited_entities(self, window: Window, schema: MemorySchema) -> Sequence[EntityName] | None:
        """The only entities that patches of a window may edit, so that the context needs no others; None: unknown before the extraction.

        Args:
            window: The window of one user.
            schema: The tenant's types.
        """
        ...

    async def extract(self, window: Window, schema: MemorySchema, context: ExtractionContext) -> Extraction:
        """Extracts all that the schema asks for from one window.

        Args:
            window: The messages.
            schema: The tenant's types.
            context: Context of the window.

        Raises:
            models.errors.TransientModelError: A temporary failure (time-out, 429, 5xx): try again later.
            extraction.errors.UnusableAnswerError: The answer cannot be repaired; the error has the raw text.
        """
        ...

    async def close(self) -> None:
        """Frees connections and threads."""
        ...


class ExtractorLayer(Extractor):
    """A layer around another extractor, closed with it. A subclass says in :meth:`extract` what it adds.

    Args:
        extractor: The other extractor.
    """

    def __init__(self, extractor: Extractor) -> None:
        self._extractor = extractor

    @property
    def name(self) -> str:
        """The other extractor's name."""
        return self._extractor.name

    def edited_entities(self, window: Window, schema: MemorySchema) -> Sequence[EntityName] | None:
        """As the other extractor."""
        return self._extractor.edited_entities(window, schema)

    async def close(self) -> None:
        """Closes the other extractor."""
        await self._extractor.close()
