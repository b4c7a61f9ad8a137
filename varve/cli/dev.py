"""``varve dev``: the whole of Varve on this machine, until Ctrl-C."""

import asyncio
from typing import TYPE_CHECKING, Annotated, Final

import typer

from varve.cli.context import DataOption, own_settings

if TYPE_CHECKING:
    from varve.embedded.stack import EmbeddedStack
    from varve.supervisor.supervisor import Supervisor

TENANT: Final = "dev"
REFRESH_S: Final = 1.0

PortOption = Annotated[int, typer.Option(min=0, max=65535, help="0: a free one.")]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(dev)


def dev(
    data: DataOption = None,
    kafka_port: PortOption = 0,
    redis_port: PortOption = 0,
    service_port: PortOption = 0,
    kafka_heap_mb: Annotated[int, typer.Option(min=128, help="Heap of Kafka's JVM in MiB.")] = 384,
    schema: Annotated[str, typer.Option(help="Schema of the tenant `dev`: a shipped scenario, or the path of a file.")] = "companion",
) -> None:
    """Start Kafka, Redis, Qdrant Edge, the five stages and the query service; stop all of them on Ctrl-C.

    A server that the settings name (VARVE_KAFKA__BOOTSTRAP, VARVE_REDIS__URL, VARVE_STORE__KIND=server) is used instead of a new one.
    """
    from varve.embedded.stack import EmbeddedStack
    from varve.supervisor.interrupt import run_until_signal
    from varve.supervisor.supervisor import Supervisor

    stack = EmbeddedStack(
        settings=own_settings(data), kafka_port=kafka_port, redis_port=redis_port, service_port=service_port, kafka_heap_mb=kafka_heap_mb
    )
    supervisor = Supervisor(stack.levels(), notice=_say)
    run_until_signal(
        _run(stack, supervisor, schema), first=lambda: _say("stopping; once more to kill what still runs"), again=supervisor.kill
    )
    _say("stopped")


async def _run(stack: "EmbeddedStack", supervisor: "Supervisor", schema: str) -> None:
    from varve.embedded.running import running_stack

    async with running_stack(stack, supervisor, tenant=TENANT, schema=schema) as running:
        _say(f"all parts are ready on {running.settings.data}")
        _say(f"service {running.note.service_url}, Kafka {running.note.bootstrap}, Redis {running.note.redis_url}")
        _say(f"API key of the tenant {TENANT}: {running.settings.data / f'{TENANT}.key'}; `varve send`, `recall` and `status` find it")
        await _show(stack, supervisor)


async def _show(stack: "EmbeddedStack", supervisor: "Supervisor") -> None:
    """The live status on a terminal; elsewhere nothing but the notices."""
    from rich.console import Console
    from rich.live import Live

    from memory.errors import VarveError
    from varve.cli.status_table import stage_table
    from varve.supervisor.stage_status import StageStatus, StageStatusReader

    console = Console(stderr=True)
    if not console.is_terminal:
        await asyncio.Event().wait()
    stages: list[StageStatus] = []
    async with StageStatusReader(settings=stack.settings, probes=stack.probes) as reader:
        with Live(console=console, auto_refresh=False) as live:
            while True:
                try:
                    stages = await reader.read()
                except VarveError:
                    stages = []  # Kafka is away: the table says that it is being started again
                live.update(stage_table(stages, supervisor.parts), refresh=True)
                await asyncio.sleep(REFRESH_S)


def _say(line: str) -> None:
    typer.echo(f"varve: {line}", err=True)
