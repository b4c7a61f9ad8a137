"""Authentication. The tenant comes from the credential and from nowhere else (docs/architecture.md, invariant 4)."""

from typing import Annotated

import structlog
from fastapi import Depends, Security
from fastapi.security import APIKeyHeader, HTTPAuthorizationCredentials, HTTPBearer

from retrieval.service.dependencies import AppDependencies
from retrieval.service.problems import unauthorized
from runtime.tenants import Tenant

_bearer = HTTPBearer(auto_error=False, description="The tenant's API key.")
_header = APIKeyHeader(name="X-API-Key", auto_error=False, description="The same, for clients that cannot send a bearer token.")


async def _tenant(
    dependencies: AppDependencies,
    bearer: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)],
    header: Annotated[str | None, Security(_header)],
) -> Tenant:
    key = _key(bearer, header, whose="the tenant's API key")
    tenant = dependencies.tenants.by_api_key(key)
    if tenant is None:
        raise unauthorized("no tenant has this API key")
    structlog.contextvars.bind_contextvars(tenant=tenant.id)
    return tenant


async def _operator(
    dependencies: AppDependencies,
    bearer: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)],
    header: Annotated[str | None, Security(_header)],
) -> None:
    key = _key(bearer, header, whose="an operator's key")
    if not dependencies.tenants.is_admin_key(key):
        raise unauthorized("this is not an operator's key; `varve tenants admin-key` makes one")


def _key(bearer: HTTPAuthorizationCredentials | None, header: str | None, *, whose: str) -> str:
    key = bearer.credentials if bearer is not None else header
    if not key:
        raise unauthorized(f"send {whose} as `Authorization: Bearer ...` or `X-API-Key`")
    return key


RequireOperator = Depends(_operator)
"""Admits only operators' keys. For routes whose data is not one tenant's."""

AuthenticatedTenant = Annotated[Tenant, Depends(_tenant)]
