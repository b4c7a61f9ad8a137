"""``varve memories`` and ``varve messages``: list, show, correct, invalidate, revert and delete memories; edit or delete a message."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TextIO

import orjson
import typer

from memory.texts.text import counted
from runtime.interruption import run
from varve.cli.options import DataOption, KindsOption, SinceOption, TypesOption, UntilOption, ask_service, attached_settings, print_notice
from varve.errors import OutputError
from varve.output import confirm, say, say_json

if TYPE_CHECKING:
    from varve_client import ChangedMessage, Correction, Memory

_PAGE: Final = 200

app = typer.Typer(help="Memories: list, show, correct, undo a correction, delete; export those of a user.", no_args_is_help=True)
messages = typer.Typer(help="Single messages: edit, delete.", no_args_is_help=True)

IdArgument = Annotated[str, typer.Argument(metavar="ID", help="The memory's id, from `varve memories list` or `varve recall --json`.")]
SessionArgument = Annotated[str, typer.Argument(metavar="SESSION", help="The message's session.")]
MessageIdArgument = Annotated[str, typer.Argument(metavar="ID", help="The message's id.")]
UserOption = Annotated[str | None, typer.Option(help="The message's user. Default: the user of the API key.")]
ReasonOption = Annotated[str, typer.Option(help="Reason; stored with the correction.")]


@app.command("show")
def show(memory_id: IdArgument, data: DataOption = None) -> None:
    """Print a memory and its correction as JSON."""
    say_json(ask_service(data, lambda service: service.memory(memory_id)).as_dict(), indent=True)


@app.command("list")
def list_memories(
    user: Annotated[str | None, typer.Option(help="Only this user's memories. Default: all that the key may read.")] = None,
    session: Annotated[str | None, typer.Option(help="Only memories of this session.")] = None,
    kinds: KindsOption = None,
    types: TypesOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    order: Annotated[Literal["newest", "oldest", "id"], typer.Option(help="By the time of the event, or by id.")] = "newest",
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of memories.")] = 50,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per line.")] = False,
    data: DataOption = None,
) -> None:
    """List memories with their ids, the newest first, without invalidated and expired ones."""
    from memory.dates.event_date import shown_date

    filters = {"user": user, "session": session, "kinds": kinds, "types": types, "since": since, "until": until, "order": order}
    found = run(_listed(data, filters, limit + 1))
    for memory in found[:limit]:
        if as_json:
            say_json(memory.as_dict())
        else:
            speaker = f"{memory.speaker}: " if memory.speaker else ""
            content = " ".join(memory.content.split())
            say(f"{memory.id}  {shown_date(memory.event_time, memory.date)}  {memory.type}  {speaker}{content}")
    if len(found) > limit:
        print_notice(f"more memories follow; see them with --limit {limit * 2}, or write all of a user with `varve memories export`")


@app.command("export")
def export(
    user: Annotated[str, typer.Argument(metavar="USER", help="The user, as messages name it.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File to write. Default: standard output.")] = None,
    data: DataOption = None,
) -> None:
    """Print all memories of a user, one JSON line each, with the ids of their source messages and their corrections."""
    count = run(_export(user, output, data))
    print_notice(f"{counted(count, 'memory')} of {user}")


@app.command("correct")
def correct(
    memory_id: IdArgument,
    content: Annotated[str | None, typer.Option(help="New text.")] = None,
    properties: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="PROPERTY=VALUE, as JSON or plain text; null removes it. May be repeated."),
    ] = None,
    date: Annotated[str | None, typer.Option(help="Date of the event: 2023-05-08, 2023-05, 2023, A/B or unknown.")] = None,
    importance: Annotated[float | None, typer.Option(min=0, max=1, help="Importance of the event, from 0 to 1.")] = None,
    reason: ReasonOption = "",
    data: DataOption = None,
) -> None:
    """Correct an event, or a text field of an entity. Lists where replaced content of an event remains."""
    changes: dict[str, Any] = {"reason": reason}
    if content is not None:
        changes["content"] = content
    if date is not None:
        changes["date"] = date
    if importance is not None:
        changes["importance"] = importance
    if properties:
        changes["properties"] = dict(map(_property, properties))
    run(_correct(data, memory_id, changes))


@app.command("invalidate")
def invalidate(memory_id: IdArgument, reason: ReasonOption = "", data: DataOption = None) -> None:
    """Mark an event as false: recalls and entities no longer use it. Lists where its content remains."""
    sent = ask_service(data, lambda service: service.invalidate(memory_id, reason=reason))
    _say_sent(sent)
    _say_remaining(sent)


@app.command("revert")
def revert(memory_id: IdArgument, reason: ReasonOption = "", data: DataOption = None) -> None:
    """Undo the newest correction of a memory. Refused if none is in force."""
    _say_sent(ask_service(data, lambda service: service.revert(memory_id, reason=reason)))


@app.command("delete")
def delete_memory(
    memory_id: IdArgument,
    reason: ReasonOption = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    data: DataOption = None,
) -> None:
    """Delete an event permanently. Lists where its content remains. This cannot be undone; `varve memories invalidate` can."""
    if not yes:
        confirm(f"Delete memory {memory_id} permanently?")
    sent = ask_service(data, lambda service: service.delete_memory(memory_id, reason=reason))
    _say_sent(sent)
    _say_remaining(sent)


@messages.command("edit")
def edit(
    session: SessionArgument,
    message_id: MessageIdArgument,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The new text.")],
    user: UserOption = None,
    data: DataOption = None,
) -> None:
    """Replace the text of a message; what was extracted from the old text is retracted."""
    _say_changed(ask_service(data, lambda service: service.edit_message(session, message_id, text, user=user)))


@messages.command("delete")
def delete(session: SessionArgument, message_id: MessageIdArgument, user: UserOption = None, data: DataOption = None) -> None:
    """Delete a message, and everything that was extracted from it."""
    _say_changed(ask_service(data, lambda service: service.delete_message(session, message_id, user=user)))


async def _listed(data: Path | None, filters: dict[str, Any], count: int) -> "list[Memory]":
    from varve.service_client import service_client

    found: list[Memory] = []
    after: str | None = None
    async with service_client(attached_settings(data)) as service:
        while True:
            page = await service.memories(**filters, after=after, limit=min(_PAGE, count - len(found)))
            found += page.memories
            after = page.next
            if after is None or len(found) >= count:
                return found


async def _export(user: str, output: Path | None, data: Path | None) -> int:
    from varve.service_client import service_client

    count = 0
    async with service_client(attached_settings(data)) as service:
        with nullcontext() if output is None else _new_file(output) as file:
            async for memory in service.all_memories(user=user):
                line = orjson.dumps(memory.as_dict()).decode()
                say(line) if file is None else file.write(f"{line}\n")
                count += 1
    return count


@contextmanager
def _new_file(path: Path) -> Iterator[TextIO]:
    """A file that gets its name only once it is complete. A device or a pipe is written directly, and a link stays one.

    Raises:
        OutputError: If it cannot be written.
    """
    try:
        if path.exists() and not path.is_file():
            with path.open("w", encoding="utf-8") as file:
                yield file
            return
        target = path.resolve()
        new = target.with_name(f"{target.name}.new")
        try:
            with new.open("w", encoding="utf-8") as file:
                yield file
            new.replace(target)
        finally:
            new.unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror}") from error


async def _correct(data: Path | None, memory_id: str, changes: dict[str, Any]) -> None:
    """Corrects a memory, and lists where its content remains, and the texts that patches made from its messages."""
    from varve_client import VarveClientError

    from varve.patched_texts import patched_texts
    from varve.service_client import service_client

    async with service_client(attached_settings(data)) as service:
        sent = await service.correct(memory_id, **changes)
        _say_sent(sent)
        _say_remaining(sent)
        if sent.outcome == "unchanged":
            return
        try:
            texts = await patched_texts(service, memory_id)
        except VarveClientError as error:
            print_notice(f"the texts patched from its messages are unknown: {error}")
            return
    if texts:
        kept = "lose the lines that state the replaced content" if sent.remaining else "do not change until you set them"
        say(f"patches made these texts from the same messages; they {kept}:")
    for text in texts:
        say(f"  {text.entity}, {text.field}: {text.value!r}; varve memories correct {text.entity_id} --set {text.field}=...")


def _say_sent(correction: "Correction") -> None:
    if correction.outcome == "unchanged":
        say(f"memory {correction.memory_id} has these values already, or an equal correction is on its way; nothing was recorded")
    else:
        say(f"correction {correction.id} is in the log; it takes effect once the stages have processed it")


def _say_remaining(correction: "Correction") -> None:
    if correction.remaining:
        say("its content remains in:")
    for each in correction.remaining:
        say(f"  {each['what']} {each['id']}: {each['reason']}")


def _property(text: str) -> tuple[str, Any]:
    name, found, value = text.partition("=")
    if not name or not found:
        raise typer.BadParameter(f"{text!r} is not NAME=VALUE", param_hint="--set")
    try:
        return name, orjson.loads(value)
    except orjson.JSONDecodeError:
        return name, value


def _say_changed(changed: "ChangedMessage") -> None:
    say(f"message {changed.id}: {changed.outcome}")
