"""``/v1/admin/keys`` and ``/v1/admin/operators``: API keys of tenants, and operators' keys for ``/v1/admin``."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Path
from pydantic import Field
from starlette.responses import Response

from api.auth.authentication import require_operator
from api.dependencies import AppDependencies, Dependencies
from api.http.json_http import JsonResponse
from api.http.openapi import RequestModel, refusals
from api.http.request_body import body_schema, json_body
from api.limits.route_admission import TURN
from api.response_models.admin import API_KEYS, CHANGED, KEY_MADE, OPERATOR_KEYS
from api.writes.control_changes import OverlapSeconds, Settle, TenantQuery, revoke, tenant_of, write
from control.access_keys import DEFAULT_SCOPES, SCOPES, Key, OperatorKey, Role, Scope, hash_key, new_api_key, new_operator_key
from control.document_base import Label
from control.draft import Draft
from control.key_changes import add_key, add_operator_key, revoke_key, revoke_operator_key, rotate_key
from control.key_usage import OPERATORS, owner_of
from memory.records.limits import RequestTime
from memory.records.message import Id, Name
from runtime.errors import RedisUnavailableError

router = APIRouter(tags=["operators"])

_KEYS: Final = "/v1/admin/keys"
_OPERATORS: Final = "/v1/admin/operators"

_Admin = Annotated[OperatorKey, require_operator("admin")]
_KeyPath = Annotated[str, Path(max_length=32)]


class NewKey(RequestModel):
    """A key to add to a tenant."""

    tenant: Name
    label: Label = ""
    scopes: tuple[Scope, ...] = Field(default=DEFAULT_SCOPES, min_length=1, max_length=len(SCOPES))
    user: Id | None = None
    """The user that the key is bound to; null: all users of the tenant."""
    expires: RequestTime | None = None
    """The time at which it expires."""


class Rotation(RequestModel):
    """The key that gets a successor."""

    tenant: Name
    overlap_s: OverlapSeconds = 86400.0
    """Seconds for which the old key stays valid."""


class NewOperator(RequestModel):
    """An operator's key to add."""

    label: Label = ""
    role: Role = "admin"
    expires: RequestTime | None = None


@router.get(_KEYS, dependencies=[require_operator("viewer"), TURN], responses=API_KEYS | refusals(404))
async def list_api_keys(tenant: TenantQuery, dependencies: AppDependencies) -> Response:
    """A tenant's keys, without the secrets, and when each was last used, to the minute."""
    return await _listed(dependencies, tenant_of(dependencies.tenants.draft(), tenant).keys, owner_of(tenant))


@router.post(_KEYS, openapi_extra=body_schema(NewKey), responses=KEY_MADE | refusals(404, 409))
async def create_api_key(
    operator: _Admin, body: Annotated[NewKey, Depends(json_body(NewKey))], dependencies: AppDependencies, settle: Settle = None
) -> Response:
    """Adds a key to a tenant. It is shown only once."""
    key, now = new_api_key(), dependencies.clock.now()
    # In the order of the scopes, without repetitions.
    scopes = tuple(each for each in SCOPES if each in body.scopes)

    def change(draft: Draft) -> dict[str, Any]:
        added = add_key(draft, body.tenant, hash_key(key), now=now, label=body.label, scopes=scopes, user=body.user, expires=body.expires)
        return {"id": added.id, "key": key}

    return await write(dependencies, operator, change, action="key add", settle=bool(settle))


@router.post(_KEYS + "/{key_id}/rotate", openapi_extra=body_schema(Rotation), responses=KEY_MADE | refusals(404, 409))
async def rotate_api_key(
    key_id: _KeyPath,
    operator: _Admin,
    body: Annotated[Rotation, Depends(json_body(Rotation))],
    dependencies: AppDependencies,
    settle: Settle = None,
) -> Response:
    """Replaces a tenant's key: the old key stays valid for a while, the new one is shown only once."""
    key, now = new_api_key(), dependencies.clock.now()

    def change(draft: Draft) -> dict[str, Any]:
        overlap = timedelta(seconds=body.overlap_s)
        return {"id": rotate_key(draft, body.tenant, key_id, hash_key(key), now=now, overlap=overlap).id, "key": key}

    return await write(dependencies, operator, change, action="key rotate", settle=bool(settle))


@router.delete(_KEYS + "/{key_id}", responses=CHANGED | refusals(404, 409))
async def revoke_api_key(
    key_id: _KeyPath, tenant: TenantQuery, operator: _Admin, dependencies: AppDependencies, settle: Settle = None
) -> Response:
    """Revokes a key. After the response no process accepts it, not even one without a connection to Kafka."""
    return await revoke(dependencies, operator, lambda draft: revoke_key(draft, tenant, key_id), action="key revoke", settle=settle)


@router.get(_OPERATORS, dependencies=[require_operator("viewer"), TURN], responses=OPERATOR_KEYS)
async def list_operator_keys(dependencies: AppDependencies) -> Response:
    """The operators' keys, without the secrets, and when each was last used, to the minute."""
    return await _listed(dependencies, dependencies.tenants.draft().operators.keys, OPERATORS)


@router.post(_OPERATORS, openapi_extra=body_schema(NewOperator), responses=KEY_MADE | refusals(404, 409))
async def create_operator_key(
    operator: _Admin, body: Annotated[NewOperator, Depends(json_body(NewOperator))], dependencies: AppDependencies, settle: Settle = None
) -> Response:
    """Adds an operator's key. It is shown only once."""
    key, now = new_operator_key(), dependencies.clock.now()

    def change(draft: Draft) -> dict[str, Any]:
        added = add_operator_key(draft, hash_key(key), now=now, label=body.label, role=body.role, expires=body.expires)
        return {"id": added.id, "key": key}

    return await write(dependencies, operator, change, action="operator add", settle=bool(settle))


@router.delete(_OPERATORS + "/{key_id}", responses=CHANGED | refusals(404, 409))
async def delete_operator_key(key_id: _KeyPath, operator: _Admin, dependencies: AppDependencies, settle: Settle = None) -> Response:
    """Revokes an operator's key. After the response no process accepts it, not even one without a connection to Kafka."""
    return await revoke(dependencies, operator, lambda draft: revoke_operator_key(draft, key_id), action="operator revoke", settle=settle)


async def _listed(dependencies: Dependencies, keys: Sequence[Key], owner: str) -> Response:
    return JsonResponse(await key_fields(dependencies, keys, owner))


async def key_fields(dependencies: Dependencies, keys: Sequence[Key], owner: str) -> dict[str, Any]:
    """Keys as plain values, without the secrets, and when each was last used.

    Args:
        dependencies: The recorded uses of keys.
        keys: The keys.
        owner: Their owner (:func:`control.key_usage.owner_of`).
    """
    uses: dict[str, datetime] | None = None
    with suppress(RedisUnavailableError):
        uses = await dependencies.key_uses.of(owner)
    shown = [{**each.model_dump(mode="json", exclude={"hash"}), "last_used": (uses or {}).get(each.id)} for each in keys]
    return {"keys": shown, "uses_known": uses is not None}
