"""The command line's client of the query service."""

from typing import Final

from varve_client import AsyncVarveClient

from runtime.settings import Settings
from varve.errors import ServiceError

INTERACTIVE_ATTEMPTS: Final = 2
"""Attempts of a command that somebody waits for: it fails within a second or two if the service does not run."""


def service_client(settings: Settings, *, max_attempts: int = INTERACTIVE_ATTEMPTS) -> AsyncVarveClient:
    """A client for the query service that the settings name.

    Args:
        settings: The settings.
        max_attempts: Most attempts of one request. Commands that run unattended pass `VARVE_CLIENT__MAX_ATTEMPTS`.

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
        max_attempts=max_attempts,
        retry_for_s=client.retry_for_s,
    )
