"""``varve generation``: a tenant's memories extracted again beside the live ones, switched to, and dropped."""

import asyncio
from typing import Annotated

import typer

from varve.cli.options import DataOption, attached_settings

app = typer.Typer(help="Memories extracted again, beside the live ones.", no_args_is_help=True)

TenantArgument = Annotated[str, typer.Argument(help="The tenant's id.")]
NameArgument = Annotated[str, typer.Argument(help="The generation's name; `-` for the first one.")]


@app.command("add")
def add(
    tenant: TenantArgument,
    name: Annotated[str, typer.Argument(help="The new generation's name.")],
    schema: Annotated[
        str | None, typer.Option(help="A shipped scenario, or the path of a schema file; the live generation's if not given.")
    ] = None,
    data: DataOption = None,
) -> None:
    """Announce a generation; `varve replay extraction --generation NAME` then writes it."""
    from runtime.tenants_file import add_generation

    add_generation(attached_settings(data).tenants_path, tenant, name, schema=schema)
    typer.echo(f"run `varve replay extraction --generation {name}`, and switch to it once it has caught up")


@app.command("list")
def list_all(tenant: TenantArgument, data: DataOption = None) -> None:
    """List a tenant's generations with their schema; the live one is marked."""
    from runtime.tenants import TenantDirectory

    known = TenantDirectory(path=attached_settings(data).tenants_path).get(tenant)
    for name in ("", *(each.name for each in known.generations)):
        typer.echo(f"{name or '-'}\t{known.schema_of(name)}\t{'live' if name == known.generation else ''}")


@app.command("switch")
def switch(
    tenant: TenantArgument,
    name: NameArgument,
    incomplete: Annotated[bool, typer.Option("--incomplete", help="Even if it lacks windows that the live one has.")] = False,
    data: DataOption = None,
) -> None:
    """Make a generation the live one, for recalls and for what is extracted from now on."""
    from streams.generations import switch as make_live

    asyncio.run(make_live(attached_settings(data), tenant, generation_named(name), incomplete=incomplete, notice=typer.echo))


@app.command("drop")
def drop(tenant: TenantArgument, name: NameArgument, data: DataOption = None) -> None:
    """Delete all that a generation has written; the running stages carry it out."""
    from runtime.tenants import TenantDirectory
    from streams.generations import drop as drop_generation

    settings = attached_settings(data)
    live = TenantDirectory(path=settings.tenants_path).get(tenant).generation
    asyncio.run(drop_generation(settings, tenant, generation_named(name), live=live, notice=typer.echo))


def generation_named(name: str) -> str:
    """The generation that a name on the command line means."""
    from streams.generations import FIRST

    return "" if name == FIRST else name
