"""Who is asking: the tenant comes from the credential and from nowhere else (docs/architecture.md, invariant 4)."""

from typing import Annotated

import structlog
from fastapi import Depends, Security
from fastapi.security import APIKeyHeader, HTTPAuthorizationCredentials, HTTPBearer

from retrieval.service.parts import PartsOfApp
from retrieval.service.problems import unauthorized
from runtime.tenants import Tenant

_bearer = HTTPBearer(auto_error=False, description="The tenant's API key.")
_header = APIKeyHeader(name="X-API-Key", auto_error=False, description="The same, for clients that cannot send a bearer token.")


async def _tenant(
    parts: PartsOfApp,
    bearer: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)],
    header: Annotated[str | None, Security(_header)],
) -> Tenant:
    key = bearer.credentials if bearer is not None else header
    if not key:
        raise unauthorized("send the tenant's API key as `Authorization: Bearer ...` or `X-API-Key`")
    tenant = parts.tenants.by_api_key(key)
    if tenant is None:
        raise unauthorized("nobody has this API key")
    structlog.contextvars.bind_contextvars(tenant=tenant.id)
    return tenant


async def _operator(
    parts: PartsOfApp,
    bearer: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)],
    header: Annotated[str | None, Security(_header)],
) -> None:
    key = bearer.credentials if bearer is not None else header
    if not key:
        raise unauthorized("send an operator's key as `Authorization: Bearer ...` or `X-API-Key`")
    if not parts.tenants.is_admin_key(key):
        raise unauthorized("this is no operator's key; `varve tenants admin-key` makes one")


Operator = Depends(_operator)
"""Lets only operators' keys in: what lies behind it is not one tenant's."""

Caller = Annotated[Tenant, Depends(_tenant)]
