"""``varve rebuild`` and ``varve snapshot``: the state given back by the log, and the state to compare it with."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from varve.cli.context import DataOption, own_settings, settings_in_reach

if TYPE_CHECKING:
    from runtime.settings import Settings

EmbeddedOption = Annotated[
    bool, typer.Option("--embedded", help="Start the servers of the stopped `varve dev` stack on the data folder for as long as it takes.")
]


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command()(rebuild)
    app.command()(snapshot)


def rebuild(data: DataOption = None, embedded: EmbeddedOption = False) -> None:
    """Drop the vector store, Redis' keys and the tables; the stages, started again, lay all of it down from the log without an LLM.

    Every worker has to be stopped first. Then start them, and follow them with `varve status`.
    """
    asyncio.run(_rebuild(data, embedded))


def snapshot(
    tenant: Annotated[str, typer.Argument(help="The tenant's id.")],
    digest: Annotated[bool, typer.Option("--digest", help="Print the SHA-256 of the snapshot alone.")] = False,
    data: DataOption = None,
    embedded: EmbeddedOption = False,
) -> None:
    """Print a tenant's memories in a canonical form, a JSON line each: equal states give equal bytes."""
    asyncio.run(_snapshot(tenant, digest, data, embedded))


async def _rebuild(data: Path | None, embedded: bool) -> None:
    from retrieval.stores.build import build_store
    from runtime.redis import connect_redis
    from streams.rebuild import rebuild

    async with _reached(data, embedded) as settings:
        store = build_store(settings)
        try:
            async with connect_redis(settings.redis) as redis:
                await rebuild(settings, store=store, redis=redis, notice=typer.echo)
        finally:
            await store.close()
    typer.echo("start the stages: they lay everything down again")


async def _snapshot(tenant: str, digest: bool, data: Path | None, embedded: bool) -> None:
    from retrieval.stores.build import build_store
    from streams import snapshot as of_store

    async with _reached(data, embedded) as settings:
        store = build_store(settings)
        try:
            if digest:
                typer.echo(await of_store.digest(store, tenant))
                return
            async for line in of_store.snapshot(store, tenant):
                typer.echo(line)
        finally:
            await store.close()


@asynccontextmanager
async def _reached(data: Path | None, embedded: bool) -> AsyncIterator["Settings"]:
    if not embedded:
        yield settings_in_reach(data)
        return
    from varve.embedded.servers import running_servers

    async with running_servers(own_settings(data), notice=lambda line: typer.echo(f"varve: {line}", err=True)) as settings:
        yield settings
