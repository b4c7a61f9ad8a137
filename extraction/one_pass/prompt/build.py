"""Builds the prompt of one window: the fixed prefix, then what changes, each part within its cap."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Final

import orjson
from pydantic import JsonValue

from extraction.echo_filter import without_echoes, without_echoes_in_result
from extraction.one_pass.answer import form
from extraction.one_pass.extraction_input import ExtractionInput
from extraction.one_pass.prompt.entity_view import dated_lines, entity_heading, field_lines, flat_text
from extraction.one_pass.prompt.limits import ENTITIES_PER_TYPE, PromptLimits, truncate
from extraction.one_pass.prompt.prefix import compile_prefix
from extraction.one_pass.prompt.shown_lines import shown_lines, size_of, words_of
from extraction.one_pass.prompt.speaker_names import SpeakerNames
from extraction.port import ExtractionContext
from memory.errors import KeyFormatError
from memory.keys import entity_key_parts, key_part
from memory.messages.binary_data import message_without_binary
from memory.records import Memory, Message, ToolCall
from memory.schema import EntityType
from memory.texts.fencing import delimiter_for, fenced, one_line
from memory.texts.text import estimate_tokens, fair_share
from models.llm.port import ChatMessage

_STAMP_EVERY: Final = timedelta(minutes=10)
_ECHO_TOKENS: Final = 60
_IMITATED_LINE: Final = re.compile(
    r"(?P<begin>(?:^|\\n)\s*)(?:(?P<number>\[)(?=(?:\d{1,4}|recalled)\] [^:]{1,60}: )|@(?= [A-Z][a-z]{2} \d{4}-\d\d-\d\d\b))"
)
"""The beginning of a line within a message that looks like the prompt's own lines of messages and dates."""
_LINE_FRAME_TOKENS: Final = 16
"""Tokens of a message's line in addition to its text: its number and its share of the date lines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A whole prompt."""

    prefix: str
    """Depends on the schema alone."""
    body: str
    """Summary, entities and messages of one window."""
    truncated_messages: int = 0
    """How many of the window's messages were shortened to fit into the prompt."""

    def messages(self) -> tuple[ChatMessage, ...]:
        """The prompt as a chat."""
        return ChatMessage("system", self.prefix), ChatMessage("user", self.body)


def build_prompt(source: ExtractionInput, context: ExtractionContext, limits: PromptLimits) -> Prompt:
    """The prompt for one window.

    Args:
        source: The window and the schema.
        context: The session's summary, and the entities near the window, nearest first.
        limits: The caps of the parts.

    Returns:
        A prompt whose prefix is the schema's and whose body keeps within the caps.
    """
    summary = truncate(one_line(context.session_summary), limits.summary_tokens)
    entities = list(_entity_lines(source, context.entities, limits))
    messages, truncated_messages = _message_lines(source, limits)
    nonce = delimiter_for([summary, *entities, *messages])
    parts = [fenced("summary", [summary], nonce)] if summary else []
    if entities:
        parts.append(fenced("entities", entities, nonce))
    parts += [fenced("messages", messages, nonce), "Answer with the JSON object for these messages."]
    return Prompt(prefix=compile_prefix(source.schema), body="\n".join(parts), truncated_messages=truncated_messages)


def _entity_lines(source: ExtractionInput, entities: Sequence[Memory], limits: PromptLimits) -> Iterator[str]:
    remaining = limits.entities_tokens
    near = words_of(message.text for message in source.window.messages)
    for entity_type in form.patched_types(source.schema):
        own = (_lines_of_entity(source, entity_type, entity, limits, near) for entity in entities if entity.type == entity_type.name)
        for lines in islice(filter(None, own), ENTITIES_PER_TYPE):
            remaining -= sum(map(estimate_tokens, lines)) + len(lines)
            if remaining < 0:
                return
            yield from lines


def _lines_of_entity(
    source: ExtractionInput, entity_type: EntityType, entity: Memory, limits: PromptLimits, near: frozenset[str]
) -> list[str]:
    """The entity's patchable fields as patches edit them; empty for an entity that patches of this window cannot change."""
    try:
        parts = dict(zip(entity_type.keys, entity_key_parts(entity.entity_key or ""), strict=True))
    except (KeyFormatError, ValueError):
        return []
    window = source.window
    users = window.users or [window.user]
    if parts.get("user", users[0]) not in users or parts.get("session", window.session) != window.session:
        return []
    named_parts = [parts[name] for name in form.named_key_parts(entity_type)]
    if any(key_part(part) != part for part in named_parts):
        return []
    head = entity_heading(entity_type.name, named_parts)
    if window.users and "user" in parts:
        head = f"{head} of user {one_line(parts['user'])}"
    fields = [field.name for field in entity_type.patched_properties() if entity.properties.get(field.name) is not None]
    if not fields and not named_parts:
        return []
    room = max(0, limits.entity_tokens - estimate_tokens(head) - sum(estimate_tokens(name) + 1 for name in fields))
    texts = [flat_text(entity.properties[name]) for name in fields]
    since = [dated_lines(text, (entity.since or {}).get(name, [])) for name, text in zip(fields, texts, strict=True)]
    cap = fair_share([size_of(text, since=days) for text, days in zip(texts, since, strict=True)], room)
    shown = [(name, shown_lines(text, cap, near=near, since=days), days) for name, text, days in zip(fields, texts, since, strict=True)]
    return [head, *(line for each in shown for line in field_lines(*each))]


def _message_lines(source: ExtractionInput, limits: PromptLimits) -> tuple[list[str], int]:
    messages = source.window.messages
    echoes = source.echo_indices()
    texts = [
        truncate(text, _ECHO_TOKENS) if index in echoes else text
        for index, text in enumerate(_message_text(message, source, is_echo=index in echoes) for index, message in enumerate(messages))
    ]
    cap = fair_share([estimate_tokens(text) for text in texts], max(0, limits.window_tokens - _LINE_FRAME_TOKENS * len(messages)))
    names = SpeakerNames(source.window)
    lines = list(names.introduction())
    truncated_messages = 0
    stamp: datetime | None = None
    for index, (message, text) in enumerate(zip(messages, texts, strict=True)):
        if not text:
            continue
        if stamp is None or abs(message.event_time - stamp) >= _STAMP_EVERY or message.event_time.date() != stamp.date():
            stamp = message.event_time
            lines.append(f"@ {stamp:%a %Y-%m-%d %H:%M}")
        bounded = truncate(text, cap)
        truncated_messages += bounded != text
        mark = "recalled" if index in echoes else str(index)
        lines.append(f"[{mark}] {names.of(message)}: {bounded}")
    return lines, truncated_messages


def _message_text(message: Message, source: ExtractionInput, *, is_echo: bool) -> str:
    """A message's text in one line, in which no line looks like one of the prompt's: its evidence would be another's message."""
    return _IMITATED_LINE.sub(_broken, one_line(_text_of(message, source, is_echo=is_echo)))


def _broken(found: re.Match[str]) -> str:
    return f"{found['begin']}{'(' if found['number'] else '·'}"


def _text_of(message: Message, source: ExtractionInput, *, is_echo: bool) -> str:
    message = message_without_binary(message)
    text = message.text
    if not is_echo:
        text = without_echoes(text, source.recalled_hashes, is_user=message.role == "user")
        message = without_echoes_in_result(message, source.recalled_hashes)
    if message.tool_call is None:
        return text
    return f"{text} {_tool_call(message.tool_call)}".strip()


def _tool_call(call: ToolCall) -> str:
    parts = [f"{call.name}({'' if call.arguments is None else _compact(call.arguments)})"]
    if call.success is not None:
        parts.append("succeeded" if call.success else "failed")
    if call.duration_ms is not None:
        parts.append(f"in {call.duration_ms:g} ms")
    if call.error:
        parts.append(f"error: {call.error}")
    if call.result is not None:
        parts.append(f"result: {_as_text(call.result)}")
    return f"(tool call {', '.join(parts)})"


def _as_text(value: JsonValue) -> str:
    return value if isinstance(value, str) else _compact(value)


def _compact(value: JsonValue | list[str]) -> str:
    return orjson.dumps(value).decode()
