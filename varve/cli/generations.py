"""``varve generations``: build a second generation of a tenant's memories, switch to it, drop it."""

from typing import Annotated

import typer

from memory.texts.text import counted
from runtime.interruption import run
from varve.cli.options import (
    ByOption,
    DataOption,
    MethodOption,
    TenantArgument,
    actor,
    attached_settings,
    method_argument,
    schema_argument,
    write_control,
)
from varve.cli.reextraction import app as reextraction
from varve.cli.rehearsal import app as rehearsal
from varve.output import say

app = typer.Typer(
    help="Generations, memories extracted again next to the live ones: start, watch, rehearse, switch, drop.", no_args_is_help=True
)
app.add_typer(reextraction)
app.add_typer(rehearsal)

NameArgument = Annotated[str, typer.Argument(help="The generation's name; `-` for the first one.")]


@app.command("add")
def add(
    tenant: TenantArgument,
    name: Annotated[str, typer.Argument(help="Name of your choice, such as v2.")],
    schema: Annotated[
        str | None,
        typer.Option(help="Name of a schema, or a path. Default: the live generation's schema."),
    ] = None,
    method: MethodOption = None,
    by: ByOption = None,
    data: DataOption = None,
) -> None:
    """Add a generation without building it. To build one, use `varve generations start`, which adds it as well.

    After `add`, `varve replay extraction --generation NAME` builds it in the foreground, without an estimate or a budget.
    """
    from control.tenant_changes import add_generation

    named, document = None if schema is None else schema_argument(schema), method_argument(method)
    write_control(
        attached_settings(data),
        lambda draft: add_generation(draft, tenant, name, schema=named, method=document),
        action="generation add",
        by=by,
    )
    say(f"nothing is extracted yet: run `varve generations start {name} --tenant {tenant}`, and switch once it has caught up")


@app.command("list")
def list_all(tenant: TenantArgument, data: DataOption = None) -> None:
    """List a tenant's generations with their schema; mark the live one, and show the remaining windows of those being built."""
    from control import Draft, read_control
    from control.generations.switching import windows_left_by

    settings = attached_settings(data)
    known = Draft(run(read_control(settings))).tenant(tenant)
    names = ("", *(each.name for each in known.generations))
    others = [each for each in names if each != known.generation]
    left = run(windows_left_by(settings, others)) if others else {}
    for name in names:
        status = "live" if name == known.generation else _windows_left(left[name]) if name in left else ""
        say(f"{name or '-'}\t{known.schema_of(name)}\t{status}")


def _windows_left(left: int) -> str:
    """The windows before a worker. Their number comes from offsets, which other tenants' windows and transactions' marks also take."""
    return f"{'at most ' if left else ''}{counted(left, 'window')} before its worker"


@app.command("switch")
def switch(
    tenant: TenantArgument,
    name: NameArgument,
    incomplete: Annotated[bool, typer.Option("--incomplete", help="Switch even if it lacks windows that the live one has.")] = False,
    by: ByOption = None,
    data: DataOption = None,
) -> None:
    """Make a generation the live one for recalls and new extractions."""
    from control.generations.reading import generation_named
    from control.generations.switching import switch as make_live

    switching = make_live(attached_settings(data), tenant, generation_named(name), by=actor(by), incomplete=incomplete, notice=say)
    run(switching)


@app.command("drop")
def drop(tenant: TenantArgument, name: NameArgument, by: ByOption = None, data: DataOption = None) -> None:
    """Delete everything that a generation has written; the running stages do the work."""
    from control.generations.dropping import drop as drop_generation
    from control.generations.reading import generation_named

    run(drop_generation(attached_settings(data), tenant, generation_named(name), by=actor(by), notice=say))
