"""``varve reindex``: a second vector store with another embedding model, while the present one serves."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from runtime.interruption import run
from varve.cli.options import DataOption, attached_settings
from varve.output import say

if TYPE_CHECKING:
    from runtime.settings import Settings

app = typer.Typer()

_NAMES = r"[a-z0-9][a-z0-9-]{0,30}"


@app.command()
def reindex(
    name: Annotated[str, typer.Argument(help="Name of the second store's workers, for example the model's name.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print the size and the estimated time.")] = False,
    progress: Annotated[bool, typer.Option("--progress", help="Only print how much of the feed the workers have read.")] = False,
    data: DataOption = None,
) -> None:
    """Fill a second store, with the embedding model and the store that the settings name, until SIGTERM. It calls no LLM.

    Set VARVE_EMBEDDING__* to the new model and, for a Qdrant server, VARVE_STORE__COLLECTION to a new collection.
    """
    import re

    if re.fullmatch(_NAMES, name) is None:
        raise typer.BadParameter("a name has lower-case letters, digits and '-'")
    if dry_run and progress:
        raise typer.BadParameter("give only one of --dry-run and --progress")
    settings = attached_settings(data)
    if progress:
        _print_progress(settings, name)
    elif dry_run:
        _print_plan(settings)
    else:
        _fill(settings, name)


def _print_progress(settings: "Settings", name: str) -> None:
    from streams.operations.reindex import read_reindex

    done = run(read_reindex(settings, name))
    share = 100 * done.read / done.total if done.total else 100.0
    say(f"{done.read:,} of {done.total:,} records of the feed read ({share:.1f} %)")
    if done.is_complete:
        say("the second store is as new as the present one: you can switch")


def _print_plan(settings: "Settings") -> None:
    from streams.operations.reindex import plan_reindex

    plan = run(plan_reindex(settings))
    say(f"model: {plan.model}, {plan.dimension} dimensions")
    say(f"memories: at most {plan.memories:,}; size of the second store: about {plan.size / 1e6:,.1f} MB")
    say(f"time of one worker: about {plan.duration_s:,.0f} s ({plan.embedding_s * 1000:.1f} ms for a text on this machine)")
    say("calls of a language model: none")


def _fill(settings: "Settings", name: str) -> None:
    from runtime.interruption import run_until_signal
    from runtime.logs import configure_logging

    store = settings.store
    if store.kind == "server" and "collection" not in store.model_fields_set:
        raise typer.BadParameter("set VARVE_STORE__COLLECTION to a new collection: the present one serves meanwhile")
    configure_logging(settings.log, stage="index")
    run_until_signal(_serve(settings, name))


async def _serve(settings: "Settings", name: str) -> None:
    from streams.run import serve_stage

    async with _second_store(settings, name) as second:
        say(f"filling the second store {name}")
        await serve_stage("index", second, second=name)


@asynccontextmanager
async def _second_store(settings: "Settings", name: str) -> AsyncIterator["Settings"]:
    """The settings with the second store; starts an Edge process for it, unless it is a server's."""
    if settings.store.kind == "server":
        yield settings
        return
    from varve.embedded.edge import EmbeddedEdge
    from varve.supervisor.supervisor import Program, Supervisor

    folder = settings.data / f"edge-{name}"
    socket = settings.data / f"edge-{name}.sock"
    edge = EmbeddedEdge(data=folder, socket_path=socket, log=settings.data / "logs" / f"edge-{name}.log")
    supervisor = Supervisor([[Program(name="edge", prepare=edge.prepare)]], notice=say)
    await supervisor.start()
    try:
        yield settings.model_copy(update={"store": settings.store.model_copy(update={"socket": socket})})
    finally:
        await supervisor.stop()
