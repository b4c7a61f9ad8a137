"""``varve audit``: changes of the control log with their authors, and a check that the audit log is complete."""

from typing import Annotated

import orjson
import typer

from runtime.interruption import run
from varve.cli.options import DataOption, attached_settings

app = typer.Typer(help="The audit trail.", no_args_is_help=True)


@app.command("list")
def list_all(
    subject: Annotated[str | None, typer.Option(help="Only changes of this key, such as tenant/acme.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per line, with the states before and after.")] = False,
    data: DataOption = None,
) -> None:
    """List the changes, oldest first."""
    from control import read_audit

    _, records = run(read_audit(attached_settings(data)))
    for record in records:
        if subject is not None and record.subject != subject:
            continue
        if as_json:
            typer.echo(orjson.dumps(record.model_dump(mode="json")))
        else:
            typer.echo(f"{record.at.isoformat(timespec='seconds')}\t{record.by}\t{record.action}\t{record.subject}")


@app.command("verify")
def verify(
    expect: Annotated[str | None, typer.Option(help="Digest printed by an earlier `verify`; fail if the log does not contain it.")] = None,
    data: DataOption = None,
) -> None:
    """Check that no audit record was removed, inserted or changed; print the digest of all records."""
    from control import read_audit

    check, records = run(read_audit(attached_settings(data)))
    problems = check.problems_with(expect)
    for problem in problems:
        typer.echo(problem, err=True)
    typer.echo(f"{check.changes} changes, {len(records)} records, digest {check.digest}")
    if problems:
        raise typer.Exit(1)
