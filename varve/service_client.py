"""The command line's client of the query service."""

from varve_client import AsyncVarveClient

from runtime.settings import Settings
from varve.errors import ServiceError


def service_client(settings: Settings, *, max_attempts: int | None = None) -> AsyncVarveClient:
    """A client for the query service that the settings name.

    Args:
        settings: The settings.
        max_attempts: Most attempts of one request. Default: those of the settings.

    Raises:
        ServiceError: If there is no API key.
    """
    client, service = settings.client, settings.service
    if client.api_key is None:
        raise ServiceError(
            "no API key: start `varve dev` on this data folder, or set VARVE_CLIENT__API_KEY (`varve tenants add` prints a new one)"
        )
    url = client.url or f"http://{service.host}:{service.port}"
    return AsyncVarveClient(
        url,
        api_key=client.api_key.get_secret_value(),
        timeout_s=client.timeout_s,
        max_attempts=client.max_attempts if max_attempts is None else max_attempts,
        retry_for_s=client.retry_for_s,
    )
