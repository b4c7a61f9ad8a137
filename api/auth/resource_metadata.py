"""Metadata of ``/mcp`` for OAuth clients: the identity provider whose tokens it accepts (RFC 9728)."""

from collections.abc import Iterator
from typing import Final
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from api.http.json_http import JsonResponse
from control.access_keys import SCOPES
from runtime.settings import OidcSettings

_WELL_KNOWN: Final = "/.well-known/oauth-protected-resource"


def metadata_url(settings: OidcSettings) -> str | None:
    """The public address of the metadata, which a 401 names; None if they are not published."""
    if settings.issuer is None or settings.resource is None:
        return None
    parts = urlsplit(settings.resource)
    return f"{parts.scheme}://{parts.netloc}{_WELL_KNOWN}{parts.path.rstrip('/')}"


def metadata_routes(settings: OidcSettings) -> Iterator[Route]:
    """The routes of the metadata: the address of the resource's path (RFC 9728, section 3.1), and the one without a path."""
    address = metadata_url(settings)
    if address is None:
        return
    content = {
        "resource": settings.resource,
        "resource_name": "Varve",
        "authorization_servers": [settings.issuer],
        "scopes_supported": [f"{settings.scope_prefix}{scope}" for scope in SCOPES],
        "bearer_methods_supported": ["header"],
    }

    async def get_metadata(request: Request) -> Response:
        return JsonResponse(content)

    for path in dict.fromkeys((urlsplit(address).path, _WELL_KNOWN)):
        yield Route(path, get_metadata, include_in_schema=False)
