"""A dry run of messages: their windows and the extraction of each. Nothing is sent or stored, and no offset moves."""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from extraction.one_pass.prompt.preview import preview_prompt
from extraction.port import ExtractionContext, Extractor
from memory.ids import message_id
from memory.messages.binary_data import message_without_binary
from memory.messages.message_preparation import message_of
from memory.records import Extraction, Window
from memory.records.limits import max_messages_bytes
from memory.schema import MemorySchema
from memory.texts.text import estimate_tokens
from runtime.settings import Settings
from streams.stages.sessions.windows import SessionMessage, SessionState, WindowBuilder, milliseconds


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


async def extract_dry(
    fields: Sequence[dict[str, Any]], schema: MemorySchema, *, tenant: str, extractor: Extractor, settings: Settings
) -> AsyncGenerator[DryWindow]:
    """Cuts messages into windows and extracts each. Starts without entities and earlier events.

    Args:
        fields: The messages, oldest first.
        schema: The types to extract.
        tenant: The tenant whose budget pays for calls of a model.
        extractor: The extractor.
        settings: Limits of windows and prompts.

    Raises:
        memory.errors.RecordError: If a message is invalid.
        models.errors.ModelError: If a model call fails.
    """
    for window in await asyncio.to_thread(list, windows_of(fields, settings, tenant=tenant)):
        extraction = await extractor.extract(window, schema, ExtractionContext())
        preview = await asyncio.to_thread(preview_prompt, schema, settings=settings, window=window)
        yield DryWindow(window=window, extraction=extraction, prompt_tokens=preview.tokens)


def windows_of(fields: Sequence[dict[str, Any]], settings: Settings, *, tenant: str) -> Iterator[Window]:
    """Cuts windows like the sessions stage; the last window of each session is closed as by a flush. Skips known ids.

    Args:
        fields: The messages, oldest first.
        settings: Limits of windows.
        tenant: The tenant of the windows.

    Raises:
        memory.errors.RecordError: If a message is invalid.
    """
    builder = WindowBuilder(limits=settings.sessions, max_window_bytes=max_messages_bytes(settings.kafka.max_record_bytes))
    states: dict[str, SessionState] = {}
    known: set[tuple[str, str, str]] = set()
    for offset, each in enumerate(fields):
        message = message_without_binary(message_of({**each, "tenant": tenant}))
        identity = message.id or message_id(tenant, message.session, str(offset))
        if (name := (message.session, message.user, identity)) in known:
            continue
        known.add(name)
        raw = message.model_copy(update={"id": identity}).to_json()
        state = states.setdefault(message.session, SessionState(tenant, message.session))
        tokens, time = estimate_tokens(message.text), milliseconds(message.event_time)
        for closed in builder.add(state, SessionMessage(identity, message.user, time, tokens, raw, offset)):
            yield Window.from_json(closed.record(partition=0))
    for state in states.values():
        if state.is_open:
            yield Window.from_json(builder.close(state, "flush").record(partition=0))
