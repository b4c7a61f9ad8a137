"""What a conversation would become: its windows, and what extraction makes of each. Nothing is sent or kept, no offset moves."""

from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from extraction.build import build_extractor
from extraction.one_pass.prompt.preview import preview_prompt
from extraction.port import ExtractionContext
from memory.ids import message_id
from memory.message_shapes import message_of
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
    """A window, and what it would become."""

    window: Window
    extraction: Extraction
    prompt_tokens: int
    """About how many tokens the prompt to a model has, whether one was asked or not."""

    def as_json(self) -> dict[str, Any]:
        """The window's session and messages, and the extraction as its record holds it."""
        return {
            "session": self.window.session,
            "closed_by": self.window.closed_by,
            "messages": [message.id for message in self.window.messages],
            "prompt_tokens": self.prompt_tokens,
            "extraction": self.extraction.model_dump(mode="json"),
        }


class _Nowhere:
    """Takes the usage that otherwise goes to a topic; the extraction names it, too."""

    async def record(self, usage: Usage) -> None:
        """See :meth:`models.llm.usage.UsageSink.record`."""


async def dry_run(fields: Sequence[dict[str, Any]], schema: MemorySchema, settings: Settings) -> AsyncGenerator[DryWindow]:
    """Cuts messages into windows and extracts each, with the model of the settings, or offline where they name none.

    Nothing is known before the first window: no entities, no earlier events.

    Args:
        fields: Of the messages, but the tenant, in order.
        schema: What is to be remembered.
        settings: The rules of windows, the model, the embedding.

    Raises:
        memory.errors.RecordError: If a message is none.
        models.errors.ModelError: If a model cannot be asked.
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
    """The windows that the sessions stage would cut, each session's last one closed as by a flush.

    Args:
        fields: Of the messages, but the tenant, in order.
        settings: Their rules.

    Raises:
        memory.errors.RecordError: If a message is none.
    """
    builder = WindowBuilder(limits=settings.sessions, max_window_bytes=max_messages_bytes(settings.kafka.max_record_bytes))
    states: dict[str, SessionState] = {}
    for offset, each in enumerate(fields):
        message = message_of({**each, "tenant": _TENANT})
        identity = message.id or message_id(_TENANT, message.session, str(offset))
        raw = message.model_copy(update={"id": identity}).to_json()
        state = states.setdefault(message.session, SessionState(_TENANT, message.session))
        tokens, time = estimate_tokens(message.text), milliseconds(message.event_time)
        for closed in builder.add(state, SessionMessage(identity, message.user, time, tokens, raw, offset)):
            yield Window.from_json(closed.record(partition=0))
    for state in states.values():
        if state.is_open:
            yield Window.from_json(builder.close(state, "flush").record(partition=0))
