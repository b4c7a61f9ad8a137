"""``varve schemas``: schemas in the control log; every revision is kept."""

from typing import Annotated

import orjson
import typer

from runtime.interruption import run
from varve.cli.options import ByOption, DataOption, attached_settings, schema_argument, write_control

app = typer.Typer(help="Schemas and their revisions.", no_args_is_help=True)


@app.command("put")
def put(
    schema: Annotated[str, typer.Argument(help="Path of a file, or the name of a shipped schema.")],
    tenant: Annotated[str | None, typer.Option(help="Only this tenant may see and use it.")] = None,
    by: ByOption = None,
    data: DataOption = None,
) -> None:
    """Store a schema's next revision unless it equals the newest one, and print NAME@REVISION. Does not change any tenant's schema."""
    from memory.schema import scenario

    named = schema_argument(schema)
    read = scenario(named) if isinstance(named, str) else named
    typer.echo(str(write_control(attached_settings(data), lambda draft: draft.put_schema(read, owner=tenant), action="schema put", by=by)))


@app.command("list")
def list_all(data: DataOption = None) -> None:
    """List all revisions with their owner and the number of tenants that use them."""
    from control import Draft, read_control

    known = Draft(run(read_control(attached_settings(data))))
    used = known.schemas_in_use()
    for ref in sorted(used, key=lambda ref: (ref.name, ref.revision)):
        document = known.schema(ref)
        typer.echo(f"{ref}\t{used[ref]} tenants\t{'-' if document is None or document.owner is None else document.owner}")


@app.command("show")
def show(ref: Annotated[str, typer.Argument(help="NAME, or NAME@REVISION.")], data: DataOption = None) -> None:
    """Print a schema as a file for `put`."""
    from control import Draft, read_control
    from control.schemas import resolve_schema

    draft = Draft(run(read_control(attached_settings(data))))
    document = draft.schema(resolve_schema(draft, ref))
    assert document is not None
    typer.echo(orjson.dumps(document.content, option=orjson.OPT_INDENT_2))
