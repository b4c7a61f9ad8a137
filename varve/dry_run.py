"""A dry run of a conversation: its windows and the extraction of each. Nothing is sent or stored, and no offset moves."""

from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from extraction.build import build_extractor
from extraction.one_pass.prompt.preview import preview_prompt
from extraction.port import ExtractionContext
from memory.binary_data import message_without_binary
from memory.ids import message_id
from memory.message_preparation import message_of
from memory.records import Extraction, Usage, Window
from memory.records.limits import max_messages_bytes
from memory.schema import MemorySchema
from memory.text import estimate_tokens
from models.embedding.build import build_embedder
from models.llm.build import build_llm
from runtime.settings import Settings
from streams.stages.sessions.windows import SessionMessage, SessionState, WindowBuilder, milliseconds

_TENANT: Final = "dry-run"


@dataclass(frozen=True, slots=True, kw_only=True)
class DryWindow:
    """A window and its extraction."""

    window: Window
    extraction: Extraction
    prompt_tokens: int
    """Estimated tokens of the prompt, whether or not a model was called."""

    def as_json(self) -> dict[str, Any]:
        """The window's session and messages, and the extraction in the form of its record."""
        return {
            "session": self.window.session,
            "closed_by": self.window.closed_by,
            "messages": [message.id for message in self.window.messages],
            "prompt_tokens": self.prompt_tokens,
            "extraction": self.extraction.model_dump(mode="json"),
        }


class _Nowhere:
    """Discards the usage that otherwise goes to a topic; the extraction contains it, too."""

    async def record(self, usage: Usage) -> None:
        """See :meth:`models.llm.usage.UsageSink.record`."""


async def dry_run(fields: Sequence[dict[str, Any]], schema: MemorySchema, settings: Settings) -> AsyncGenerator[DryWindow]:
    """Cuts messages into windows and extracts each, with the model of the settings or, without one, offline.

    Starts without entities and earlier events.

    Raises:
        memory.errors.RecordError: If a message is invalid.
        models.errors.ModelError: If a model call fails.
    """
    embedder = build_embedder(settings.embedding, cache=settings.cache_path)
    extractor = build_extractor(settings, embedder=embedder, llm=build_llm(settings, redis=None, usage=_Nowhere()))
    try:
        for window in windows_of(fields, settings):
            extraction = await extractor.extract(window, schema, ExtractionContext())
            preview = preview_prompt(schema, settings=settings, window=window)
            yield DryWindow(window=window, extraction=extraction, prompt_tokens=preview.tokens)
    finally:
        await extractor.close()
        await embedder.close()


def windows_of(fields: Sequence[dict[str, Any]], settings: Settings) -> Iterator[Window]:
    """Cuts windows like the sessions stage; the last window of each session is closed as by a flush.

    Raises:
        memory.errors.RecordError: If a message is invalid.
    """
    builder = WindowBuilder(limits=settings.sessions, max_window_bytes=max_messages_bytes(settings.kafka.max_record_bytes))
    states: dict[str, SessionState] = {}
    for offset, each in enumerate(fields):
        message = message_without_binary(message_of({**each, "tenant": _TENANT}))
        identity = message.id or message_id(_TENANT, message.session, str(offset))
        raw = message.model_copy(update={"id": identity}).to_json()
        state = states.setdefault(message.session, SessionState(_TENANT, message.session))
        tokens, time = estimate_tokens(message.text), milliseconds(message.event_time)
        for closed in builder.add(state, SessionMessage(identity, message.user, time, tokens, raw, offset)):
            yield Window.from_json(closed.record(partition=0))
    for state in states.values():
        if state.is_open:
            yield Window.from_json(builder.close(state, "flush").record(partition=0))
