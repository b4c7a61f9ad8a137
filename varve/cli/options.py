"""Shared by several commands: the option ``--data``, times, notices, and the settings."""

import asyncio
import getpass
import logging
import math
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeVar

import typer

from runtime.interruption import run
from varve.errors import SettingsError
from varve.output import say

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from varve_client import AsyncVarveClient

    from control import Change
    from memory.schema import MemorySchema
    from memory.schema.methods import MethodDocument
    from runtime.settings import Settings

_R = TypeVar("_R")
START_TIMEOUT_S: Final = 120.0
"""Seconds that a command waits for a starting stack."""
_POLL_S: Final = 0.2
_SILENT: Final = logging.NullHandler()
"""Silences aiokafka in commands without a log: their own error message says the same."""
_unattached: Path | None = None
"""The data folder if no stack runs on it and no setting names Kafka; used in the error message."""

FollowOption = Annotated[bool, typer.Option("--follow", help="Wait until the restarted stages have caught up, and show progress.")]
DataOption = Annotated[Path | None, typer.Option("--data", help="Folder for local state. Default: VARVE_DATA, or .varve.")]
DespiteErasuresOption = Annotated[
    bool,
    typer.Option("--despite-erasures", help="Run although an erasure is unfinished, if it cannot finish first. Then repeat the erasure."),
]


def parse_time(text: str | datetime) -> datetime:
    """Parses an ISO 8601 time; one without a zone is UTC.

    Raises:
        typer.BadParameter: If the text is not such a time.
    """
    if isinstance(text, datetime):
        return text
    try:
        time = datetime.fromisoformat(text)
    except ValueError as error:
        raise typer.BadParameter(f"{text!r} is not an ISO 8601 time such as 2024-05-01T12:00:00Z") from error
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)


SinceOption = Annotated[
    datetime | None,
    typer.Option(parser=parse_time, help="Only what may have happened at this time or later (ISO 8601)."),
]
UntilOption = Annotated[datetime | None, typer.Option(parser=parse_time, help="Only what may have happened before this time (ISO 8601).")]
KindsOption = Annotated[
    list[str] | None, typer.Option("--kind", help="Only this kind: event, entity, summary or segment; may be repeated.")
]
TypesOption = Annotated[list[str] | None, typer.Option("--type", help="Only this event or entity type of the schema; may be repeated.")]
TenantArgument = Annotated[str, typer.Argument(help="The tenant's id.")]
StageArgument = Annotated[str, typer.Argument(help="sessions, extraction, events, entities, merging, index or recalls.")]
ByOption = Annotated[str | None, typer.Option(help="Name for the audit. Default: the user of this machine.")]
SchemaOption = Annotated[str, typer.Option(help="NAME or NAME@REVISION of a schema, or a path.")]
MethodOption = Annotated[
    str | None,
    typer.Option(help="Memory method that extends the schema: a name from `varve methods list`, or a path. Default: the schema's."),
]


def schema_argument(text: str) -> "str | MemorySchema":
    """The schema that a command line argument names: the content of a file, or else a name.

    Raises:
        SchemaError: If it is a path without a file, or the file is invalid.
    """
    from memory.schema import load_schema

    return load_schema(Path(text)) if is_path(text) else text


def method_argument(text: str | None) -> "str | MethodDocument | None":
    """The memory method that a command line argument names: the content of a file, or else a name.

    Raises:
        SchemaError: If it is a path without a file, or the file is invalid.
        ProfilesError: If the file names an unknown ranking profile.
    """
    if text is None or not is_path(text):
        return text
    from memory.schema.methods import check_method, load_method
    from retrieval.profiles import check_profile

    document = load_method(Path(text))
    check_profile(check_method(document).retrieval.profile, load_settings(None).recall, source=text)
    return document


def is_path(text: str) -> bool:
    """Whether an argument is the path of a file, not a name."""
    path = Path(text)
    return path.is_file() or path.suffix == ".json" or os.sep in text


def write_control(
    settings: "Settings", change: "Change[_R]", *, action: str, by: str | None, settle: bool = False, prints_changes: bool = False
) -> _R:
    """Writes a change to the control log.

    Args:
        settings: The settings, with Kafka's address.
        change: The change.
        action: Its name, for the audit.
        by: Its author. Default: the user of this machine.
        settle: Whether to return only when the change is in force even in processes without a connection to Kafka.
        prints_changes: Whether to print each changed field.

    Raises:
        VarveError: If the change is refused or cannot be written; a single sentence.
    """
    from control import ControlWriter
    from control.differences import difference_lines

    async def write() -> _R:
        writer = ControlWriter(settings=settings)
        written = await writer.write(change, action=action, by=actor(by))
        for line in difference_lines(written.documents) if prints_changes else ():
            say(line)
        if not written.documents:
            print_notice("nothing to change")
        if settle:
            # Waits even if nothing was written: an earlier run may have been killed between its write and the end of its wait.
            print_notice(f"in force; waiting {settings.control.lease_s:g} s for processes that may have no connection to Kafka")
            await writer.settle()
        return written.result

    return run(write())


def actor(by: str | None) -> str:
    """The author for the audit. Default: the user of this machine."""
    return by or getpass.getuser()


def print_key(key: str) -> None:
    """Prints a new key; only its hash is stored."""
    say(key)
    say("the key above is shown only once", err=True)


def print_notice(line: str) -> None:
    """Prints a progress message to standard error."""
    say(f"varve: {line}", err=True)


def load_settings(data: Path | None = None) -> "Settings":
    """Loads the settings of the environment and the ``.env`` file.

    Args:
        data: The data folder from the command line.

    Raises:
        SettingsError: If a variable has an invalid value.
    """
    from varve.settings_reading import read_settings

    return read_settings(data)


def attached_settings(data: Path | None = None) -> "Settings":
    """Loads the settings. If a stack runs on the data folder, its addresses replace those that were not set.

    Raises:
        SettingsError: If a variable has an invalid value.
    """
    from runtime.logs import log_to_stderr
    from varve.embedded.stack_file import StackFile

    global _unattached
    log_to_stderr()
    logging.getLogger("aiokafka").addHandler(_SILENT)
    settings = load_settings(data)
    stack = StackFile.find(settings.data)
    _unattached = settings.data if stack is None and "bootstrap" not in settings.kafka.model_fields_set else None
    return settings if stack is None else stack.apply_to(settings)


def sentence_of(error: Exception) -> str:
    """The message for an error. If no setting names Kafka and none responds at the default address, it says what to do."""
    from runtime.errors import KafkaUnavailableError
    from varve.supervisor.lock import is_locked

    if _unattached is None or not isinstance(error, KafkaUnavailableError):
        return str(error)
    from aiokafka.errors import KafkaConnectionError

    if not isinstance(error.__cause__, KafkaConnectionError):
        return str(error)
    if is_locked(_unattached):
        return f"the `varve dev` on {_unattached} is starting or stopping: see its output, or {_unattached / 'logs'}"
    return f"no `varve dev` runs on {_unattached}: start it, name its folder with --data, or set VARVE_KAFKA__BOOTSTRAP"


def ask_service(data: Path | None, ask: "Callable[[AsyncVarveClient], Awaitable[_R]]") -> _R:
    """The answer of the query service to a command.

    Args:
        data: The data folder from the command line.
        ask: Calls the service.

    Raises:
        ServiceError: If there is no API key.
        VarveClientError: If the service refuses a request, or cannot be reached.
    """
    from varve.service_client import service_client

    async def asked() -> _R:
        async with service_client(attached_settings(data)) as service:
            return await ask(service)

    return run(asked())


async def settings_of_stack(data: Path | None = None) -> "Settings":
    """Like :func:`attached_settings`, but waits for a stack that is still starting on the data folder.

    Raises:
        SettingsError: If a variable has an invalid value, or the stack does not start in time.
    """
    from varve.embedded.stack_file import StackFile
    from varve.supervisor.lock import is_locked

    settings = load_settings(data)
    has_notified = False
    try:
        async with asyncio.timeout(START_TIMEOUT_S):
            while settings.client.api_key is None and StackFile.find(settings.data) is None and is_locked(settings.data):
                if not has_notified:
                    print_notice(f"the stack on {settings.data} is starting; waiting for it")
                has_notified = True
                await asyncio.sleep(_POLL_S)
    except TimeoutError as error:
        raise SettingsError(
            f"the stack on {settings.data} is not ready after {START_TIMEOUT_S:g} s: see the output of `varve dev`, or its logs"
        ) from error
    return attached_settings(data)


async def follow(settings: "Settings") -> None:
    """Waits until no stage has lag, without a time limit, and shows the progress."""
    from varve.lag import wait_for_zero_lag
    from varve.progress import lag_bars

    with lag_bars() as progress:
        await wait_for_zero_lag(settings, stall_s=math.inf, progress=progress)
    say("every stage has caught up")
