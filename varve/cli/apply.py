"""``varve apply`` and ``varve export``: the control log from a file, and as a file."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from runtime.interruption import run
from varve.cli.options import ByOption, DataOption, actor, attached_settings

if TYPE_CHECKING:
    from control import Change, DocumentChange
    from runtime.settings import Settings

app = typer.Typer()


@app.command()
def apply(
    file: Annotated[Path, typer.Option("--file", "-f", help="YAML or JSON, as `varve export` writes it.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the difference, and change nothing.")] = False,
    prune: Annotated[bool, typer.Option("--prune", help="Remove tenants that the file does not list. Default: keep them.")] = False,
    by: ByOption = None,
    data: DataOption = None,
) -> None:
    """Apply a file of tenants, keys and operators, all at once or not at all. Tenants that it does not list stay, except with --prune."""
    from control.differences import difference_lines
    from control.tenants_file import apply_file, read_tenants_file

    wanted, now = read_tenants_file(file), datetime.now(UTC)
    documents = run(
        apply_to_log(
            attached_settings(data),
            lambda draft: apply_file(draft, wanted, folder=file.parent, now=now, prune=prune),
            by=actor(by),
            dry_run=dry_run,
        )
    )
    for line in difference_lines(documents):
        typer.echo(line)
    typer.echo(f"{len(documents)} documents {'would change' if dry_run else 'changed'}", err=True)


@app.command()
def export(
    schemas: Annotated[bool, typer.Option("--schemas", help="Include all schemas, which a new installation needs.")] = False,
    data: DataOption = None,
) -> None:
    """Print tenants, keys and operators as a file for `varve apply`."""
    import yaml

    from control import read_control
    from control.tenants_file import export_file

    state = run(read_control(attached_settings(data)))
    typer.echo(yaml.safe_dump(export_file(state, with_schemas=schemas), sort_keys=False, allow_unicode=True), nl=False)


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
