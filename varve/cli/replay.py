"""``varve replay`` and ``varve rebuild``: process records again, and build all state from the log.

The option ``--embedded`` runs them on the servers of a stopped ``varve dev`` stack, whose stages must be stopped.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from runtime.interruption import run
from varve.cli.options import (
    DataOption,
    DespiteErasuresOption,
    FollowOption,
    StageArgument,
    TenantArgument,
    attached_settings,
    follow,
    load_settings,
    parse_time,
    print_notice,
)
from varve.output import say

if TYPE_CHECKING:
    from runtime.settings import Settings
    from streams.operations.replay import ReplayStart


EmbeddedOption = Annotated[
    bool, typer.Option("--embedded", help="Start the servers of the stopped `varve dev` stack on the data folder while the command runs.")
]


def _refuse_to_follow(*, embedded: bool, until_caught_up: bool) -> None:
    """Refuses ``--embedded`` with ``--follow``.

    Raises:
        typer.BadParameter: If both are given.
    """
    if embedded and until_caught_up:
        raise typer.BadParameter("the servers of --embedded stop with this command: start `varve dev`, which shows how far the stages are")


@asynccontextmanager
async def settings_with_servers(data: Path | None, *, embedded: bool) -> AsyncIterator["Settings"]:
    """The settings to work with; with ``--embedded``, the servers on the data folder run for the length of the block.

    Args:
        data: The data folder, where the command line gives one.
        embedded: Whether the folder's servers are started for it.

    Raises:
        VarveError: If the settings are wrong, or a server cannot be started; in one sentence.
    """
    if not embedded:
        yield attached_settings(data)
        return
    from varve.embedded.lifecycle import running_servers

    async with running_servers(load_settings(data), notice=print_notice) as settings:
        yield settings


app = typer.Typer()


@app.command()
def replay(
    stage: StageArgument,
    from_time: Annotated[
        datetime | None,
        typer.Option(parser=parse_time, help="Start with records produced at this time (ISO 8601). Default: the beginning."),
    ] = None,
    from_offset: Annotated[int | None, typer.Option(min=0, help="Start at this offset.")] = None,
    partition: Annotated[int | None, typer.Option(min=0, help="Only this partition.")] = None,
    generation: Annotated[
        str | None,
        typer.Option(help="For `extraction`: do not reset it, but build this generation next to the live one, until SIGTERM."),
    ] = None,
    tenant: Annotated[
        list[str] | None,
        typer.Option(help="Tenant of the generation; may be repeated. Default: all tenants that have it and are not live on it."),
    ] = None,
    until_caught_up: FollowOption = False,
    despite_erasures: DespiteErasuresOption = False,
    data: DataOption = None,
    embedded: EmbeddedOption = False,
) -> None:
    """Reset a stage to process records again, under the same ids. Stop its workers before and start them afterwards."""
    _refuse_to_follow(embedded=embedded, until_caught_up=until_caught_up)
    if tenant and generation is None:
        raise typer.BadParameter("a stage is reset for all tenants; use --tenant only with --generation")
    if generation is not None:
        if stage != "extraction" or from_offset is not None or partition is not None:
            raise typer.BadParameter("only `extraction` writes a generation: from the beginning, from a time, or from its last position")
        if embedded:
            raise typer.BadParameter("a generation is written next to the live one: start `varve dev`, and run this without --embedded")
        if until_caught_up:
            raise typer.BadParameter("a worker that writes a generation runs until SIGTERM; `varve generations switch` shows its progress")
        from control.generations.reading import generation_named

        _write_generation(attached_settings(data), generation_named(generation), from_time, tenant or [])
        return
    from streams.operations.replay import ReplayStart

    try:
        start = ReplayStart(time=from_time, offset=from_offset, partition=partition)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    run(_set_back(stage, start, data, embedded=embedded, until_caught_up=until_caught_up, despite_erasures=despite_erasures))


async def _set_back(
    stage: str, start: "ReplayStart", data: Path | None, *, embedded: bool, until_caught_up: bool, despite_erasures: bool
) -> None:
    from streams.operations.replay import replay as set_back

    async with settings_with_servers(data, embedded=embedded) as settings:
        moved = await set_back(settings, stage, start, despite_erasures=despite_erasures, notice=say)
        say(
            f"start the workers of {stage}: they continue from there"
            if moved
            else f"{stage} has not reached that position: nothing to reset"
        )
        if moved and until_caught_up:
            await follow(settings)


def _write_generation(settings: "Settings", generation: str, since: datetime | None, named: list[str]) -> None:
    from control import Draft, read_control
    from control.generations.switching import set_start, tenants_to_write
    from streams.run import run_stage

    tenants = tenants_to_write(Draft(run(read_control(settings))), generation, named=named)
    say(f"writing generation {generation or 'the first'} of {', '.join(tenants)}")
    run(set_start(settings, generation, since=since))
    run_stage("extraction", settings, generation=generation, only=frozenset(tenants))


@app.command()
def rebuild(
    until_caught_up: FollowOption = False,
    despite_erasures: DespiteErasuresOption = False,
    data: DataOption = None,
    embedded: EmbeddedOption = False,
) -> None:
    """Drop the vector store, Varve's keys in Redis and the tables. After a restart, the stages rebuild them from the log without an LLM.

    Stop every worker first. Start them afterwards, and watch them with `varve status`.
    """
    _refuse_to_follow(embedded=embedded, until_caught_up=until_caught_up)
    run(_rebuild(data, embedded=embedded, until_caught_up=until_caught_up, despite_erasures=despite_erasures))


@app.command()
def snapshot(
    tenant: TenantArgument,
    digest: Annotated[bool, typer.Option("--digest", help="Print only the SHA-256 of the snapshot.")] = False,
    data: DataOption = None,
    embedded: EmbeddedOption = False,
) -> None:
    """Print a tenant's memories in canonical form, one JSON line each: equal states give equal bytes."""
    run(_snapshot(tenant, data, digest=digest, embedded=embedded))


async def _rebuild(data: Path | None, *, embedded: bool, until_caught_up: bool, despite_erasures: bool) -> None:
    from runtime.redis.client import open_redis
    from stores.build import open_store
    from streams.operations.rebuild import rebuild

    async with settings_with_servers(data, embedded=embedded) as settings:
        async with open_store(settings) as store, open_redis(settings.redis) as redis:
            await rebuild(settings, store=store, redis=redis, despite_erasures=despite_erasures, notice=say)
        say("start the stages: they rebuild everything")
        if until_caught_up:
            await follow(settings)


async def _snapshot(tenant: str, data: Path | None, *, digest: bool, embedded: bool) -> None:
    from stores.build import open_store
    from streams.operations.rebuild import digest as digest_of
    from streams.operations.rebuild import snapshot as snapshot_of

    async with settings_with_servers(data, embedded=embedded) as settings, open_store(settings) as store:
        if digest:
            say(await digest_of(store, tenant))
            return
        async for line in snapshot_of(store, tenant):
            say(line)
