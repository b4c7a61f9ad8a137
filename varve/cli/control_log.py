"""``varve apply``, ``export``, ``audit`` and ``schemas``: the control log from and as a file, its changes, and its schemas."""

import re
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from memory.texts.text import counted
from runtime.interruption import run
from varve.cli.options import (
    ByOption,
    DataOption,
    TenantArgument,
    actor,
    attached_settings,
    parse_time,
    print_notice,
    schema_argument,
    write_control,
)
from varve.output import say, say_json

if TYPE_CHECKING:
    from control import Change, DocumentChange
    from runtime.settings import Settings


app = typer.Typer()
schemas = typer.Typer(help="Schemas and their revisions: store, list, show.", no_args_is_help=True)
audit = typer.Typer(help="Audit: list changes, check that none is missing, list reads of memories.", no_args_is_help=True)

_SHORT_DIGEST: Final = re.compile(r"(?:erasure|hold)/.+/[0-9a-f]{12,}")


@app.command()
def apply(
    file: Annotated[Path, typer.Option("--file", "-f", help="YAML or JSON, as `varve export` writes it.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the difference, and change nothing.")] = False,
    prune: Annotated[bool, typer.Option("--prune", help="Remove tenants that the file does not list. Default: keep them.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite changes that were made after the file was exported. Default: show them, and fail.")
    ] = False,
    by: ByOption = None,
    data: DataOption = None,
) -> None:
    """Apply a file of tenants, keys and operators, all at once or not at all. Tenants that it does not list stay, except with --prune."""
    from control.errors import ChangedMeanwhileError
    from control.tenants_file import apply_file, read_tenants_file

    settings, wanted, now = attached_settings(data), read_tenants_file(file), datetime.now(UTC)

    def difference(*, force: bool, dry_run: bool) -> "tuple[DocumentChange, ...]":
        change = partial(apply_file, file=wanted, folder=file.parent, now=now, prune=prune, force=force)
        return run(apply_to_log(settings, change, by=actor(by), dry_run=dry_run))

    try:
        documents = difference(force=force, dry_run=dry_run)
    except ChangedMeanwhileError as error:
        _show(difference(force=True, dry_run=True))
        raise ChangedMeanwhileError(f"{error} (--force)") from error
    _show(documents)
    say(f"{len(documents)} documents {'would change' if dry_run else 'changed'}", err=True)


def _show(documents: "tuple[DocumentChange, ...]") -> None:
    from control.differences import difference_lines

    for line in difference_lines(documents):
        say(line)


@app.command()
def export(
    schemas: Annotated[bool, typer.Option("--schemas", help="Include all schemas, which a new installation needs.")] = False,
    no_revisions: Annotated[
        bool,
        typer.Option("--no-revisions", help="For a file that is to overwrite changes made elsewhere, such as one under version control."),
    ] = False,
    data: DataOption = None,
) -> None:
    """Print tenants, keys and operators as a file for `varve apply`."""
    import yaml

    from control import read_control
    from control.tenants_file import export_file

    exported = export_file(run(read_control(attached_settings(data))), with_schemas=schemas)
    if no_revisions:
        for part in (exported, *exported["tenants"]):
            part.pop("revision", None)
            part.pop("operators_revision", None)
    typer.echo(yaml.safe_dump(exported, sort_keys=False, allow_unicode=True), nl=False)


async def apply_to_log(settings: "Settings", change: "Change[None]", *, by: str, dry_run: bool) -> "tuple[DocumentChange, ...]":
    """Writes a change to the control log, and waits until it is in force everywhere; returns the changed documents.

    Args:
        settings: The settings, with Kafka's address.
        change: The change.
        by: Author of the change, for the audit.
        dry_run: Whether to compute the difference only.

    Raises:
        VarveError: If the change is refused or cannot be written; a single sentence.
    """
    from control import ControlWriter, Draft, read_control

    if dry_run:
        draft = Draft(await read_control(settings))
        change(draft)
        return tuple(draft.changes())
    writer = ControlWriter(settings=settings)
    written = await writer.write(change, action="apply", by=by)
    # Waits even if nothing was written: an earlier run may have been killed between its write and the end of its wait.
    await writer.settle()
    return written.documents


@audit.command("list")
def list_changes(
    subject: Annotated[
        str | None, typer.Option(help="Only changes of this key, such as tenant/acme, or hold/acme/DIGEST with a digest as lists show it.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per line, with the states before and after.")] = False,
    data: DataOption = None,
) -> None:
    """List the changes, oldest first."""
    from control import read_audit

    _, records = run(read_audit(attached_settings(data)))
    for record in records:
        if subject is not None and not _is_of(record.subject, subject):
            continue
        if as_json:
            say_json(record.model_dump(mode="json"))
        else:
            say(f"{record.at.isoformat(timespec='seconds')}\t{record.by}\t{record.action}\t{record.subject}")


def _is_of(subject: str, asked: str) -> bool:
    """Whether a change is of the asked key, in which a user's digest may be shortened, as in lists of erasures and holds."""
    return subject == asked or (_SHORT_DIGEST.fullmatch(asked) is not None and subject.startswith(asked))


@audit.command("reads")
def list_reads(
    tenant: TenantArgument,
    user: Annotated[str, typer.Argument(help="The user whose memories were read.")],
    since: Annotated[
        datetime | None, typer.Option(parser=parse_time, help="Only reads at this time or later (ISO 8601). Default: all.")
    ] = None,
    most: Annotated[int, typer.Option(min=1, help="Most reads, the newest first.")] = 1000,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per line, with the memory ids.")] = False,
    data: DataOption = None,
) -> None:
    """List the recorded reads of a user's memories, newest first: when, which key, which request, how many memories.

    VARVE_READ_AUDIT__RATE sets the share of reads that are recorded; by default none.
    """
    from runtime.read_log import reads_of

    reads = run(reads_of(attached_settings(data), tenant, user, since=since, most=most))
    if not reads:
        print_notice("no read is recorded; VARVE_READ_AUDIT__RATE of the query service is the share that it records (default: 0)")
    for read in reads:
        if as_json:
            say_json(read.model_dump(mode="json"))
        else:
            number = len(read.memory_ids) + read.left_out
            say(f"{read.time.isoformat(timespec='seconds')}\t{read.key_id}\t{read.what}\t{number}")


@audit.command("verify")
def verify_audit(
    expect: Annotated[str | None, typer.Option(help="Digest printed by an earlier `verify`; fail if the log does not contain it.")] = None,
    data: DataOption = None,
) -> None:
    """Check that no audit record was removed, inserted or changed; print the digest of all records."""
    from control import read_audit

    check, records = run(read_audit(attached_settings(data)))
    problems = check.problems_with(expect)
    for problem in problems:
        say(problem, err=True)
    say(f"{counted(check.changes, 'change')}, {counted(len(records), 'record')}, digest {check.digest}")
    if problems:
        raise typer.Exit(1)


@schemas.command("put")
def put_schema(
    schema: Annotated[str, typer.Argument(help="Path of a file, or the name of a shipped schema.")],
    tenant: Annotated[str | None, typer.Option(help="Only this tenant may see and use it.")] = None,
    by: ByOption = None,
    data: DataOption = None,
) -> None:
    """Store a schema's next revision unless it equals the newest one, and print NAME@REVISION. Does not change any tenant's schema."""
    from memory.schema import scenario

    named = schema_argument(schema)
    read = scenario(named) if isinstance(named, str) else named
    say(write_control(attached_settings(data), lambda draft: draft.put_schema(read, owner=tenant), action="schema put", by=by))


@schemas.command("list")
def list_schemas(data: DataOption = None) -> None:
    """List all revisions with their owner and the number of tenants that use them."""
    from control import Draft, read_control

    known = Draft(run(read_control(attached_settings(data))))
    used = known.schemas_in_use()
    for ref in sorted(used, key=lambda ref: (ref.name, ref.revision)):
        document = known.schema(ref)
        say(f"{ref}\t{counted(used[ref], 'tenant')}\t{'-' if document is None or document.owner is None else document.owner}")


@schemas.command("show")
def show_schema(ref: Annotated[str, typer.Argument(help="NAME, or NAME@REVISION.")], data: DataOption = None) -> None:
    """Print a schema as a file for `put`."""
    from control import Draft, read_control
    from control.schemas import resolve_schema

    draft = Draft(run(read_control(attached_settings(data))))
    document = draft.schema(resolve_schema(draft, ref))
    assert document is not None
    say_json(document.content, indent=True)
