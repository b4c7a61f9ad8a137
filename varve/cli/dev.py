"""``varve dev``: the whole stack on this machine, until Ctrl-C."""

import asyncio
from typing import TYPE_CHECKING, Annotated, Final

import typer

from runtime.interruption import run, run_until_signal
from varve.cli.options import DataOption, MethodOption, load_settings, method_argument, print_notice, schema_argument

if TYPE_CHECKING:
    from varve.embedded.stack import EmbeddedStack
    from varve.supervisor.supervisor import Supervisor

TENANT: Final = "dev"
REFRESH_S: Final = 1.0

PortOption = Annotated[int, typer.Option(min=0, max=65535, help="Its port, for other programs on this machine. 0: a free port.")]


app = typer.Typer()


@app.command()
def dev(
    data: DataOption = None,
    kafka_port: PortOption = 0,
    redis_port: PortOption = 0,
    service_port: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65535,
            help="Port of the query service. 0: a free port. Default: VARVE_SERVICE__PORT, or else 8080; a free port if 8080 is in use.",
        ),
    ] = None,
    kafka_heap_mb: Annotated[int, typer.Option(min=128, help="Heap of Kafka's JVM in MiB.")] = 384,
    schema: Annotated[
        str | None,
        typer.Option(help="Schema of the tenant `dev`: a shipped schema or a path. Default: the current one; for a new tenant, companion."),
    ] = None,
    method: MethodOption = None,
) -> None:
    """Start Kafka, Redis, Qdrant Edge, the stages and the query service; stop all of them on Ctrl-C.

    A server that the settings name (VARVE_KAFKA__BOOTSTRAP, VARVE_REDIS__URL, VARVE_STORE__KIND=server) is used instead of a new one.
    A stack that is stopping on the same folder is waited for.
    """
    from varve.embedded.lifecycle import until_stopped
    from varve.embedded.stack import EmbeddedStack
    from varve.embedded.tenants import DeveloperTenant
    from varve.supervisor.supervisor import Supervisor

    settings = load_settings(data)
    run(until_stopped(settings.data.absolute(), print_notice))
    stack = EmbeddedStack(
        settings=settings,
        kafka_port=kafka_port,
        redis_port=redis_port,
        service_port=service_port,
        kafka_heap_mb=kafka_heap_mb,
        tenant=DeveloperTenant(TENANT, None if schema is None else schema_argument(schema), method_argument(method)),
    )
    supervisor = Supervisor(stack.levels(), notice=print_notice)
    run_until_signal(
        _run(stack, supervisor),
        on_first=lambda: print_notice("stopping; press Ctrl-C again to kill the remaining processes"),
        on_repeat=supervisor.kill,
        grace_s=lambda: supervisor.stop_deadline_s,
        exit_code=None,
    )
    print_notice("stopped")


async def _run(stack: "EmbeddedStack", supervisor: "Supervisor") -> None:
    from varve.embedded.lifecycle import running_stack
    from varve.embedded.tenants import key_path

    async with running_stack(stack, supervisor) as running:
        print_notice(f"all parts are ready on {running.settings.data}")
        print_notice(f"service {running.file.service_url}, Kafka {running.file.bootstrap}, Redis {running.file.redis_url}")
        if stack.serves_console:
            print_notice(f"console {running.file.service_url}/console: sign in with an API key")
        print_notice(f"API key of the tenant {TENANT}: {key_path(running.settings, TENANT)}; `varve send`, `recall` and `status` find it")
        await _show_live_status(stack, supervisor)


async def _show_live_status(stack: "EmbeddedStack", supervisor: "Supervisor") -> None:
    """Refreshes the status table on a terminal; otherwise only waits."""
    from rich.console import Console
    from rich.live import Live

    from memory.errors import VarveError
    from varve.cli.status import status_table
    from varve.stage_status import StageStatus, StageStatusReader

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
                    stages = []  # Kafka is restarting; the table shows its state
                live.update(status_table(stages, supervisor.programs), refresh=True)
                await asyncio.sleep(REFRESH_S)
