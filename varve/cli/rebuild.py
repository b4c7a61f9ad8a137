"""``varve rebuild`` and ``varve snapshot``: rebuild state from the log, and print it in canonical form."""

from pathlib import Path
from typing import Annotated

import typer

from runtime.interruption import run
from varve.cli.embedded import EmbeddedOption, refuse_to_follow, settings_of
from varve.cli.options import DataOption, DespiteErasuresOption, FollowOption, TenantArgument, follow

app = typer.Typer()


@app.command()
def rebuild(
    until_caught_up: FollowOption = False,
    despite_erasures: DespiteErasuresOption = False,
    data: DataOption = None,
    embedded: EmbeddedOption = False,
) -> None:
    """Drop the vector store, Redis' keys and the tables. After a restart, the stages rebuild them from the log without an LLM.

    Stop every worker first. Start them afterwards, and watch them with `varve status`.
    """
    refuse_to_follow(embedded, until_caught_up)
    run(_rebuild(data, embedded, until_caught_up, despite_erasures=despite_erasures))


@app.command()
def snapshot(
    tenant: TenantArgument,
    digest: Annotated[bool, typer.Option("--digest", help="Print only the SHA-256 of the snapshot.")] = False,
    data: DataOption = None,
    embedded: EmbeddedOption = False,
) -> None:
    """Print a tenant's memories in canonical form, one JSON line each: equal states give equal bytes."""
    run(_snapshot(tenant, digest, data, embedded))


async def _rebuild(data: Path | None, embedded: bool, until_caught_up: bool, *, despite_erasures: bool) -> None:
    from runtime.redis import open_redis
    from stores.build import open_store
    from streams.operations.rebuild import rebuild

    async with settings_of(data, embedded) as settings:
        async with open_store(settings) as store, open_redis(settings.redis) as redis:
            await rebuild(settings, store=store, redis=redis, despite_erasures=despite_erasures, notice=typer.echo)
        typer.echo("start the stages: they rebuild everything")
        if until_caught_up:
            await follow(settings)


async def _snapshot(tenant: str, digest: bool, data: Path | None, embedded: bool) -> None:
    from stores.build import open_store
    from streams.operations.snapshot import digest as digest_of
    from streams.operations.snapshot import snapshot as snapshot_of

    async with settings_of(data, embedded) as settings, open_store(settings) as store:
        if digest:
            typer.echo(await digest_of(store, tenant))
            return
        async for line in snapshot_of(store, tenant):
            typer.echo(line)
