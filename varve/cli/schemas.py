"""``varve schemas``: the schemas of the control log, each revision of which stays."""

from typing import Annotated

import orjson
import typer

from runtime.interruption import run
from varve.cli.options import ByOption, DataOption, attached_settings, schema_argument, write_control

app = typer.Typer(help="What is remembered: schemas by revision.", no_args_is_help=True)


@app.command("put")
def put(
    schema: Annotated[str, typer.Argument(help="A file's path, or a shipped scenario.")],
    tenant: Annotated[str | None, typer.Option(help="The one tenant that may have it in force, and see it.")] = None,
    by: ByOption = None,
    data: DataOption = None,
) -> None:
    """Write a schema's next revision, unless its newest one says the same; prints NAME@REVISION. No tenant's schema changes by that."""
    from memory.schema import scenario

    named = schema_argument(schema)
    read = scenario(named) if isinstance(named, str) else named
    typer.echo(str(write_control(attached_settings(data), lambda draft: draft.put_schema(read, owner=tenant), action="schema put", by=by)))


@app.command("list")
def list_all(data: DataOption = None) -> None:
    """List all revisions, how many tenants have each in force, and whose each is."""
    from runtime.control import Draft, read_control

    known = Draft(run(read_control(attached_settings(data))))
    used = known.schemas_in_use()
    for ref in sorted(used, key=lambda ref: (ref.name, ref.revision)):
        document = known.schema(ref)
        typer.echo(f"{ref}\t{used[ref]} tenants\t{'-' if document is None or document.owner is None else document.owner}")


@app.command("show")
def show(ref: Annotated[str, typer.Argument(help="NAME, or NAME@REVISION.")], data: DataOption = None) -> None:
    """Print a schema as a file that `put` takes."""
    from runtime.control import Draft, read_control
    from runtime.control.schemas import schema_in_force

    draft = Draft(run(read_control(attached_settings(data))))
    document = draft.schema(schema_in_force(draft, ref))
    assert document is not None
    typer.echo(orjson.dumps(document.content, option=orjson.OPT_INDENT_2))
