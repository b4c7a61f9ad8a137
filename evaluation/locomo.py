"""LoCoMo as windows to extract from, with the annotations that tell what a good extraction of them holds."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from memory.ids import window_id
from memory.records import Message, Window
from runtime.settings import SessionSettings
from varve.conversations import locomo_conversation
from varve.errors import ConversationError

TENANT = "evaluation"


@dataclass(frozen=True, slots=True)
class Observation:
    """A fact that LoCoMo's authors wrote down, and the places in the window of the turns that it rests on."""

    text: str
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatedWindow:
    """A window with what LoCoMo's authors noted of it."""

    window: Window
    observations: tuple[Observation, ...]
    happenings: tuple[str, ...]
    """The session's significant events, a sentence each; with the session's last window."""
    summary: str
    """Of the session before; empty for the first."""


def read_locomo(path: Path) -> list[list[AnnotatedWindow]]:
    """The conversations of a file in LoCoMo's form, each as its windows in order: a session's turns, at most the message cap in each.

    Raises:
        ConversationError: If the file cannot be read or has another form.
    """
    try:
        samples = orjson.loads(path.read_bytes())
    except OSError as error:
        raise ConversationError(f"{path} cannot be read: {error.strerror}") from error
    except orjson.JSONDecodeError as error:
        raise ConversationError(f"{path} is not JSON: {error}") from error
    samples = samples if isinstance(samples, list) else [samples]
    return [list(_windows(sample, source=f"{path}, conversation {place}")) for place, sample in enumerate(samples)]


def _windows(sample: Mapping[str, Any], *, source: str) -> Iterator[AnnotatedWindow]:
    cap = SessionSettings().message_cap
    sessions: dict[str, list[Message]] = {}
    for fields in locomo_conversation(sample, source=source).messages:
        message = Message.model_validate({**fields, "tenant": TENANT})
        sessions.setdefault(message.session, []).append(message)
    summary, offset = "", 0
    for session, messages in sessions.items():
        for sequence, start in enumerate(range(0, len(messages), cap)):
            part = messages[start : start + cap]
            is_last = start + cap >= len(messages)
            yield AnnotatedWindow(
                window=Window(
                    id=window_id(TENANT, f"{messages[0].user}/{session}", sequence),
                    tenant=TENANT,
                    user=messages[0].user,
                    session=session,
                    sequence=sequence,
                    messages=part,
                    closed_by="flush" if is_last else "message_count",
                    source_partition=0,
                    first_offset=offset,
                    last_offset=offset + len(part) - 1,
                ),
                observations=tuple(_observations(sample, session, part)),
                happenings=tuple(_happenings(sample, session)) if is_last else (),
                summary=summary,
            )
            offset += len(part)
        summary = sample.get("session_summary", {}).get(f"{session}_summary", "")


def _observations(sample: Mapping[str, Any], session: str, messages: list[Message]) -> Iterator[Observation]:
    place_of = {message.id: place for place, message in enumerate(messages)}
    for facts in sample.get("observation", {}).get(f"{session}_observation", {}).values():
        for text, evidence in facts:
            named = evidence if isinstance(evidence, list) else [evidence]
            places = tuple(place_of[each] for each in named if each in place_of)
            if places:
                yield Observation(text, places)


def _happenings(sample: Mapping[str, Any], session: str) -> Iterator[str]:
    for speaker, sentences in sample.get("event_summary", {}).get(f"events_{session}", {}).items():
        if speaker != "date":
            yield from sentences
