"""``varve send``, ``varve recall`` and ``varve context``: send messages, and recall memories."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memory.texts.text import counted
from runtime.interruption import run
from varve.cli.options import DataOption, KindsOption, SinceOption, TypesOption, UntilOption, parse_time, settings_of_stack
from varve.output import say, say_json

if TYPE_CHECKING:
    from varve_client import SentMessage

    from varve.conversations import Conversation

app = typer.Typer()


@app.command()
def send(
    file: Annotated[Path, typer.Argument(help="JSONL, an array of messages, conversations.json of ChatGPT or Claude, or a LoCoMo file.")],
    flush: Annotated[bool, typer.Option(help="Close the open windows afterwards, so that they are extracted now.")] = False,
    user: Annotated[str | None, typer.Option(help="User of the messages that name none, as in exports of chat services.")] = None,
    session: Annotated[str | None, typer.Option(help="Session of the messages that name none.")] = None,
    data: DataOption = None,
) -> None:
    """Send a file of messages to the query service."""
    from varve.conversations import read_conversation
    from varve.imports.sending import CHANGED

    conversation = read_conversation(file, user=user, session=session)
    if conversation.left_out:
        say(f"left out {counted(conversation.left_out, 'message')} without text and tool call", err=True)
    sent = run(_send(conversation, data, flush=flush))
    changed = [each.id for each in sent if each.changed]
    say(f"{counted(len(sent) - len(changed), 'message')} sent")
    if changed:
        say(f"{len(changed)} not stored, first {changed[0]}: {CHANGED}", err=True)
        raise typer.Exit(1)


@app.command()
def recall(
    query: Annotated[str, typer.Argument(help="A question or statement, in the words of your users.")],
    user: Annotated[str | None, typer.Option(help="Only this user's memories and current state.")] = None,
    session: Annotated[str | None, typer.Option(help="Also show the latest messages of this session.")] = None,
    kinds: KindsOption = None,
    types: TypesOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Maximum number of results, and of entities.")] = None,
    as_of: Annotated[
        datetime | None, typer.Option(parser=parse_time, help="Only what had happened by then, with entities as they were (ISO 8601).")
    ] = None,
    profile: Annotated[
        str | None, typer.Option(help="Ranking profile: learned, weighted, memx or one from VARVE_RECALL__PROFILES.")
    ] = None,
    mode: Annotated[
        str | None,
        typer.Option(help="`fast` (no LLM), `expand` or `sift`. Default: that of the tenant's method."),
    ] = None,
    min_confidence: Annotated[
        float | None, typer.Option(min=0, max=1, help="Return no results if the confidence is lower. No effect if not calibrated.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole answer as JSON: results, entities, confidence.")] = False,
    data: DataOption = None,
) -> None:
    """Recall memories. The last line is the confidence that they answer the question."""
    from rich.console import Console

    from varve.results import ResultTable, confidence_line

    scope = {"user": user, "session": session, "kinds": kinds, "types": types, "since": since, "until": until, "as_of": as_of}
    asked = {**scope, "limit": limit, "profile": profile, "mode": mode, "min_confidence": min_confidence}
    found = run(_recall(query, asked, data))
    _say_what_is_missing(found)
    if as_json:
        say_json(found, indent=True)
        return
    shown = [*found["results"], *_nearest_first(_with_content(found["entities"]))[:limit], *_messages(found)]
    if shown:
        answer = ResultTable()
        answer.add(shown)
        Console(highlight=False).print(answer.table)
    else:
        say("nothing relevant is remembered")
    say(confidence_line(found.get("confidence")))


@app.command()
def context(
    query: Annotated[str, typer.Argument(help="A question or statement, in the words of your users.")],
    user: Annotated[str | None, typer.Option(help="Only this user's memories and current state.")] = None,
    session: Annotated[str | None, typer.Option(help="Also include the latest messages of this session.")] = None,
    kinds: KindsOption = None,
    types: TypesOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    tokens: Annotated[
        int | None, typer.Option(help="Most tokens of the block. Default: that of the service (VARVE_RECALL__CONTEXT_TOKENS).")
    ] = None,
    said: Annotated[bool, typer.Option("--said", help="Also show the original sentence of events that a model worded.")] = False,
    mode: Annotated[
        str | None,
        typer.Option(help="`fast` (no LLM), `expand` or `sift`. Default: that of the tenant's method."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole answer as JSON, with the sources of its marks.")] = False,
    data: DataOption = None,
) -> None:
    """Print what is remembered as a block of text for a prompt."""
    scope = {"user": user, "session": session, "kinds": kinds, "types": types, "since": since, "until": until}
    answer = run(_context(query, {**scope, "tokens": tokens, "said": said or None, "mode": mode}, data))
    _say_what_is_missing(answer)
    if as_json:
        say_json(answer, indent=True)
    else:
        say(answer["context"])


async def _send(conversation: "Conversation", data: Path | None, *, flush: bool) -> "list[SentMessage]":
    from varve.progress import progress_bar
    from varve.service_client import service_client

    async with service_client(await settings_of_stack(data)) as service:
        with progress_bar("sending", len(conversation.messages)) as progress:
            sent = await service.send(conversation.messages, on_batch=progress)
        if flush:
            await service.flush()
    return sent


def _with_content(entities: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The entities as a context shows them: without the sizes of timelines, and without entities that have nothing else."""
    from retrieval.state_text import state_text

    texts = [(entity, state_text(entity["content"], entity.get("properties") or {})) for entity in entities]
    return [{**entity, "content": text} for entity, text in texts if text is not None]


def _nearest_first(entities: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Orders entities: the nearest of each type, then the second nearest of each. The service returns them by type, nearest first."""
    seen: Counter[str] = Counter()
    places: list[int] = []
    for entity in entities:
        places.append(seen[entity["type"]])
        seen[entity["type"]] += 1
    return [each for _, each in sorted(zip(places, entities, strict=True), key=lambda pair: pair[0])]


def _messages(answer: dict[str, Any]) -> list[dict[str, Any]]:
    """The session's latest messages in the form of memories. Those without text are tool calls."""
    messages = [each["message"] for each in (answer.get("session") or {}).get("messages", [])]
    return [{**each, "type": "message", "content": each["text"], "evidence": [each["id"]]} for each in messages if each.get("text")]


def _say_what_is_missing(answer: dict[str, Any]) -> None:
    if answer["degraded"]:
        say(f"answered without: {', '.join(answer['degraded'])}", err=True)


async def _recall(query: str, asked: dict[str, Any], data: Path | None) -> dict[str, Any]:
    from varve.service_client import service_client

    async with service_client(await settings_of_stack(data)) as service:
        return (await service.recall(query, **asked)).as_dict()


async def _context(query: str, asked: dict[str, Any], data: Path | None) -> dict[str, Any]:
    from varve.service_client import service_client

    async with service_client(await settings_of_stack(data)) as service:
        return (await service.context(query, **asked)).as_dict()
