"""Authentication. The tenant comes only from the credential (docs/internals/architecture.md, invariant 4)."""

from collections.abc import AsyncIterator, Callable
from functools import cache
from typing import Annotated, Any

import structlog
from fastapi import Depends, Request, Security
from fastapi.security import APIKeyHeader, HTTPAuthorizationCredentials, HTTPBearer

from api.auth.caller import Caller, Credential, KeyHash, forbidden, is_token
from api.dependencies import Dependencies, dependencies_of
from api.http.query_parameters import refuse_unknown_parameters
from api.problems import unauthorized
from control.access_keys import ApiKey, OperatorKey, Role, Scope, hash_key
from control.errors import UnknownTenantError
from control.key_usage import OPERATORS, owner_of
from control.tenants import Tenant

_bearer = HTTPBearer(auto_error=False, description="The tenant's API key, or a token of the identity provider.")
_header = APIKeyHeader(name="X-API-Key", auto_error=False, description="The same, for clients that cannot send a bearer token.")

_Bearer = Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)]
_Header = Annotated[str | None, Security(_header)]


@cache
def caller_with(scope: Scope) -> Callable[..., AsyncIterator[Caller]]:
    """The dependency that admits tenants' keys with a scope. One instance per scope, so that a request is authenticated once.

    The request counts as one of its tenant's until it is answered.
    """

    async def _authenticate(request: Request, bearer: _Bearer, header: _Header) -> AsyncIterator[Caller]:
        dependencies = dependencies_of(request)
        credential = await _credential_in(request, dependencies, bearer, header, whose="the tenant's API key")
        caller = await caller_of(dependencies, credential)
        structlog.contextvars.bind_contextvars(tenant=caller.tenant.id)
        require_active(caller.tenant)
        if scope not in caller.key.scopes:
            raise forbidden(
                f"this API key or token lacks the scope {scope}; it has {', '.join(caller.key.scopes) or 'none'}: use another one "
                f"(an operator makes a key with `varve keys add {caller.tenant.id} --scope {scope}`)"
            )
        refuse_unknown_parameters(request)
        with dependencies.in_progress.one_of(caller.tenant.id):
            yield caller

    return _authenticate


def require_active(tenant: Tenant) -> None:
    """Rejects the keys of a suspended tenant.

    Raises:
        ProblemError: 403.
    """
    if tenant.state != "active":
        raise forbidden("the tenant is suspended; contact the operator of this Varve installation")


def require_current(dependencies: Dependencies, caller: Caller) -> None:
    """Rejects a caller that has lost its access since the request began. For requests that wait before they read.

    Args:
        dependencies: The tenants.
        caller: The caller.

    Raises:
        ProblemError: 401 if the key was revoked or has expired, or the tenant was removed; 403 if the tenant was suspended.
    """
    key = caller.key
    try:
        tenant = dependencies.tenants.get(caller.tenant.id)
    except UnknownTenantError:
        raise unauthorized("the tenant was removed") from None
    require_active(tenant)
    is_expired = key.expires is not None and key.expires <= dependencies.clock.now()
    if is_expired or not (key.is_token or any(each.id == key.id for each in tenant.keys)):
        raise unauthorized("the API key or token was revoked, or has expired, while the request waited")


async def caller_of(dependencies: Dependencies, credential: str | KeyHash) -> Caller:
    """The owner of an API key or of an identity provider's token, whatever its scopes.

    Args:
        dependencies: The tenants, and the identity provider.
        credential: The key, the token, or a reference to a key.

    Raises:
        ProblemError: 401 if it is unknown; 503 if the identity provider cannot be asked.
    """
    if dependencies.identity is not None and isinstance(credential, str) and is_token(credential):
        identity = await dependencies.identity.identify(credential)
        try:
            tenant = dependencies.tenants.get(identity.tenant)
        except UnknownTenantError:
            raise unauthorized("the token's tenant is not a tenant of this Varve installation") from None
        rights = Credential(
            id=f"token of {identity.subject}", scopes=identity.scopes, user=identity.user, expires=identity.expires, is_token=True
        )
        return Caller(tenant, rights)
    found = dependencies.tenants.by_api_key_hash(_hash_of(credential))
    if found is None:
        raise unauthorized("no tenant has this API key, or it has expired")
    dependencies.key_uses.note(owner_of(found.tenant.id), found.key.id)
    return Caller(found.tenant, _credential_of(found.key))


async def require_known(dependencies: Dependencies, credential: str) -> None:
    """Rejects an unknown caller of MCP or of a facade, before its request's body is read. The calls of Varve's own API check its rights.

    Args:
        dependencies: The tenants, and the identity provider.
        credential: The key or the token; empty if the request has none.

    Raises:
        ProblemError: 401 if it is unknown; 503 if the identity provider cannot be asked.
    """
    if not credential:
        raise unauthorized("send the tenant's API key as `Authorization: Bearer ...` or `X-API-Key`")
    await caller_of(dependencies, credential)


def _credential_of(key: ApiKey) -> Credential:
    return Credential(id=key.id, scopes=key.scopes, user=key.user, label=key.label, expires=key.expires)


def require_operator(role: Role) -> Any:
    """Admits only operators' keys with a role. For routes whose data is not of one tenant."""

    async def _authenticate(request: Request, bearer: _Bearer, header: _Header) -> OperatorKey:
        dependencies = dependencies_of(request)
        credential = await _credential_in(request, dependencies, bearer, header, whose="an operator's key")
        found = dependencies.tenants.by_operator_key_hash(_hash_of(credential))
        if found is None:
            raise unauthorized("this is not an operator's key; `varve operators add` makes one")
        dependencies.key_uses.note(OPERATORS, found.id)
        if not found.may(role):
            raise forbidden(f"this request needs the role {role}; the key has {found.role}")
        refuse_unknown_parameters(request)
        return found

    return Depends(_authenticate)


async def _credential_in(
    request: Request, dependencies: Dependencies, bearer: HTTPAuthorizationCredentials | None, header: str | None, *, whose: str
) -> str | KeyHash:
    """The key or token of a request, or what the session of its cookie refers to. A header takes precedence over the cookie."""
    key = bearer.credentials if bearer is not None else header
    if key:
        return key
    if dependencies.console is not None and (credential := await dependencies.console.credential_of(request)) is not None:
        return credential
    other = "; the header Authorization has no `Bearer ` before the key" if "Authorization" in request.headers else ""
    raise unauthorized(f"send {whose} as `Authorization: Bearer ...` or `X-API-Key`{other}")


def _hash_of(credential: str | KeyHash) -> str:
    return credential.value if isinstance(credential, KeyHash) else hash_key(credential)


IngestCaller = Annotated[Caller, Depends(caller_with("ingest"))]
RecallCaller = Annotated[Caller, Depends(caller_with("recall"))]
CorrectCaller = Annotated[Caller, Depends(caller_with("correct"))]
"""For manual changes of memories."""
EraseCaller = Annotated[Caller, Depends(caller_with("erase"))]
"""Callers that may erase users of their tenant."""
OperateCaller = Annotated[Caller, Depends(caller_with("operate"))]
"""For a tenant's own operation of its stream."""
