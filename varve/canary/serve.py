"""The canary as a process with a health page."""

from runtime.metrics import metrics
from runtime.probe import ProbeServer
from runtime.settings import Settings
from varve.canary.metrics import CanaryMetrics
from varve.canary.run import Canary, Round
from varve.service_client import service_client


async def serve_canary(settings: Settings) -> None:
    """Runs the canary until it is cancelled.

    Raises:
        ServiceError: If there is no API key.
        OSError: If the health page's port is in use.
    """
    async with service_client(settings) as service:
        canary = Canary(service=service, settings=settings.canary, metrics=CanaryMetrics(metrics().registry))
        ready = ProbeServer(
            host=settings.metrics_host,
            port=settings.metrics_port,
            ready=lambda: {"service_reached": canary.has_reached_service},
            metrics=metrics(),
        )
        async with ready:
            await canary.run()


async def one_round(settings: Settings) -> Round:
    """Runs one round, to check whether Varve remembers.

    Raises:
        ServiceError: If there is no API key.
    """
    async with service_client(settings) as service:
        canary = Canary(service=service, settings=settings.canary, metrics=CanaryMetrics(metrics().registry))
        return await canary.run_round()
