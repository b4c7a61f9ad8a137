"""``varve topics grow``: more partitions."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memory.texts.text import counted
from runtime.interruption import run
from varve.cli.options import DataOption
from varve.cli.processes import topics
from varve.cli.replay import EmbeddedOption, settings_with_servers
from varve.output import say

if TYPE_CHECKING:
    from streams.operations.growth.journal import Growth
    from streams.operations.growth.plan import GrowthPlan


app = topics


@app.command("grow")
def grow(
    partitions: Annotated[int | None, typer.Option(min=1, help="Number of partitions of the new topics.")] = None,
    prefix: Annotated[
        str | None, typer.Option(help="Prefix of the new topics. Default: the present one with the number, for example `varve24.`.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print records, bytes and the estimated pause.")] = False,
    finish: Annotated[bool, typer.Option("--finish", help="Delete the old topics, which stay until then.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Delete the new topics, before a stage has used them.")] = False,
    data: DataOption = None,
    embedded: EmbeddedOption = False,
) -> None:
    """Copy all topics and tables to new topics with more partitions, while the stages are stopped.

    Run again after an interruption; or to copy what a producer has appended to the old topics since.
    """
    if dry_run + finish + undo > 1:
        raise typer.BadParameter("give only one of --dry-run, --finish and --undo")
    run(_grow(partitions, prefix, data, dry_run=dry_run, finish_it=finish, undo_it=undo, embedded=embedded))


async def _grow(
    partitions: int | None, prefix: str | None, data: Path | None, *, dry_run: bool, finish_it: bool, undo_it: bool, embedded: bool
) -> None:
    from stores.build import open_store
    from streams.operations.growth.layout import control_prefix
    from streams.operations.growth.plan import plan_growth
    from streams.operations.growth.run import find_growth, finish, undo
    from streams.operations.growth.run import grow as grow_topics

    async with settings_with_servers(data, embedded=embedded) as settings:
        old, new, growth = await find_growth(settings, partitions=partitions, prefix=prefix)
        if dry_run:
            _print_plan(await plan_growth(old.settings(settings), old, new))
        elif finish_it or undo_it:
            if growth is None:
                raise typer.BadParameter("no growth has begun")
            await (finish if finish_it else undo)(settings, growth, notice=say)
        else:
            async with open_store(settings) as store:
                growth = await grow_topics(settings, old, new, growth, store=store, notice=say)
            if settings.kafka.topic_prefix != growth.new_prefix:
                _print_settings(growth, control_prefix(settings.kafka))


def _print_plan(plan: "GrowthPlan") -> None:
    say(f"from {plan.old.prefix}* with {counted(plan.old.partitions, 'partition')} to {plan.new.prefix}* with {plan.new.partitions}")
    for part in plan.parts:
        say(f"{part.name}: {counted(part.records, 'record')}, {counted(part.size, 'byte')}")
    say(
        f"to copy: at most {counted(plan.records, 'record')}, {counted(plan.size, 'byte')} per replica, "
        f"and {counted(plan.padding, 'record')} without content"
    )
    say(f"pause of the stages: about {plan.pause_s:,.0f} s")


def _print_settings(growth: "Growth", control_prefix: str) -> None:
    say("ready: start all processes with")
    say(f"VARVE_KAFKA__TOPIC_PREFIX={growth.new_prefix}")
    say(f"VARVE_KAFKA__CONTROL_PREFIX={control_prefix}")
    say(f"VARVE_KAFKA__PARTITIONS={growth.new_partitions}")
