"""``varve memories``: one memory, looked at, corrected, invalidated, reverted."""

import asyncio
from pathlib import Path
from typing import Annotated, Any

import typer

from varve.cli.options import DataOption, attached_settings, print_notice
from varve.output import say, say_json

app = typer.Typer(help="Single memories: show, correct, undo a correction.", no_args_is_help=True)

IdArgument = Annotated[str, typer.Argument(metavar="ID", help="The memory's id, as `varve recall --json` shows it.")]
ReasonOption = Annotated[str, typer.Option(help="Reason; stored with the correction.")]


@app.command("show")
def show(memory_id: IdArgument, data: DataOption = None) -> None:
    """Print a memory and its correction as JSON."""
    say_json(asyncio.run(_ask(data, "GET", memory_id)), indent=True)


@app.command("correct")
def correct(
    memory_id: IdArgument,
    content: Annotated[str | None, typer.Option(help="New text.")] = None,
    properties: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="PROPERTY=VALUE, as JSON or plain text; null removes it. May be repeated."),
    ] = None,
    date: Annotated[str | None, typer.Option(help="Date of the event: 2023-05-08, 2023-05, 2023, A/B or unknown.")] = None,
    reason: ReasonOption = "",
    data: DataOption = None,
) -> None:
    """Correct an event, or a text field of an entity. Lists text fields patched from the event's messages, which do not change."""
    body: dict[str, Any] = {"reason": reason}
    if content is not None:
        body["content"] = content
    if date is not None:
        body["date"] = date
    if properties:
        body["properties"] = dict(map(_property, properties))
    asyncio.run(_correct(data, "PATCH", memory_id, body=body))


@app.command("invalidate")
def invalidate(memory_id: IdArgument, reason: ReasonOption = "", data: DataOption = None) -> None:
    """Mark an event as false: recalls and entities no longer use it. Lists text fields patched from its messages, which do not change."""
    asyncio.run(_correct(data, "POST", memory_id, "/invalidate", {"reason": reason}))


@app.command("revert")
def revert(memory_id: IdArgument, reason: ReasonOption = "", data: DataOption = None) -> None:
    """Undo the newest correction of a memory."""
    _sent(asyncio.run(_ask(data, "POST", memory_id, "/revert", {"reason": reason})))


async def _ask(data: Path | None, method: str, memory_id: str, action: str = "", body: dict[str, Any] | None = None) -> dict[str, Any]:
    from varve.client import ServiceClient

    async with ServiceClient.from_settings(attached_settings(data)) as service:
        return await service.memory(method, memory_id, action, body)


async def _correct(data: Path | None, method: str, memory_id: str, action: str = "", body: dict[str, Any] | None = None) -> None:
    """Corrects a memory, and says what does not follow it."""
    from varve.client import ServiceClient
    from varve.errors import ServiceError
    from varve.patched_texts import patched_texts

    async with ServiceClient.from_settings(attached_settings(data)) as service:
        _sent(await service.memory(method, memory_id, action, body))
        try:
            texts = await patched_texts(service, memory_id)
        except ServiceError as error:
            print_notice(f"which patched texts rest on its messages is not known: {error}")
            return
    if texts:
        say("these texts, which patches made, rest on the same messages, and stay as they are until you set them:")
    for each in texts:
        say(f"  {each.entity}, {each.field}: {each.value!r}; varve memories correct {each.entity_id} --set {each.field}=...")


def _sent(answer: dict[str, Any]) -> None:
    say(f"correction {answer['id']} lies in the log; it holds once the stages have come so far")


def _property(text: str) -> tuple[str, Any]:
    import orjson

    name, found, value = text.partition("=")
    if not name or not found:
        raise typer.BadParameter(f"{text!r} is not NAME=VALUE", param_hint="--set")
    try:
        return name, orjson.loads(value)
    except orjson.JSONDecodeError:
        return name, value
