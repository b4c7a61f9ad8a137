"""``/v1/admin/tenants`` and ``/v1/admin/signing``: tenants and their message signatures. The counterpart of ``varve tenants``."""

from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Depends, Path, Query
from pydantic import Field
from starlette.responses import Response

from api.auth.authentication import require_operator
from api.dependencies import AppDependencies
from api.http.entity_tags import IfMatch, expected_revisions, tag_of
from api.http.json_http import JsonResponse
from api.http.openapi import RequestModel, refusals
from api.http.request_body import REST, body_schema, json_body
from api.limits.route_admission import TURN
from api.problems import ProblemError
from api.response_models.admin import CHANGED, KEY_MADE, SIGNING, TENANT, TENANTS
from api.writes.control_changes import Settle, revoke, tenant_fields, tenant_of, write
from control.access_keys import OperatorKey, hash_key, new_api_key
from control.document_base import Label
from control.documents import Weight
from control.draft import Draft
from control.key_changes import add_key
from control.message_signing import KeyId
from control.tenant_changes import add_tenant, change_signing, remove_tenant, set_tenant
from memory.messages.message_preparation import MessageSettings
from memory.records.message import Id, Name
from memory.redaction import NO_REDACTION, RedactionPolicy
from memory.retention import RetentionPolicy
from runtime.seals import Keyring
from runtime.settings import BudgetSettings, QuotaSettings

router = APIRouter(tags=["operators"])

_PATH: Final = "/v1/admin/tenants"
_MAX_LIMIT: Final = 1000

_Admin = Annotated[OperatorKey, require_operator("admin")]
_TenantPath = Annotated[str, Path(min_length=1, max_length=256)]
SchemaName = Annotated[str, Field(min_length=1, max_length=300)]
MethodName = Annotated[str, Field(min_length=1, max_length=256)]


class _Fields(RequestModel):
    weight: Weight = 1.0
    budget: BudgetSettings = BudgetSettings()
    quota: QuotaSettings = QuotaSettings()
    messages: MessageSettings = MessageSettings()
    """Default time zone of its messages, and the markup to remove from them."""
    retention: RetentionPolicy = Field(default_factory=dict)
    """How long results of each type are kept: `12h`, `90d`, `8w`, `1y`. `messages` names the raw messages, `*` every other type."""

    redaction: RedactionPolicy = NO_REDACTION
    """The personal data that models do not see: placeholders take its place in prompts."""

    def given(self) -> dict[str, Any]:
        """The fields that the body contains."""
        names = ("weight", "budget", "quota", "messages", "retention", "redaction", "state")
        return {name: getattr(self, name) for name in names if name in self.model_fields_set}


class NewTenant(_Fields):
    """A tenant to add."""

    id: Id
    schema_name: SchemaName = Field(default="companion", alias="schema")
    """A schema of the control log (``notes``, ``notes@2``) or a shipped schema."""
    method: MethodName | None = None
    """A shipped memory method that extends the schema; null: the schema as it is."""
    label: Label = ""
    """The label of its key."""


class TenantChange(_Fields):
    """Changes of a tenant; fields that are left out keep their value."""

    schema_name: SchemaName | None = Field(default=None, alias="schema")
    method: MethodName | None = None
    """A shipped memory method that extends the schema; null: unchanged, unless a schema is given."""
    state: Literal["active", "suspended"] = "active"


class SigningChange(RequestModel):
    """Changes of a tenant's signature policy; without any, the policy is shown."""

    tenant: Name
    required: bool | None = None
    """Whether new messages must be signed."""
    retire: KeyId | None = None
    """A key that is no longer valid for new messages."""
    add: KeyId | None = None
    """The id of a new key; the key of a known id is shown again."""


@router.get(_PATH, dependencies=[require_operator("viewer"), TURN], responses=TENANTS)
async def list_tenants(
    dependencies: AppDependencies,
    contains: Annotated[str, Query(max_length=256, description="A part of the id, in any case.")] = "",
    after: Annotated[str, Query(max_length=256)] = "",
    limit: Annotated[int, Query(ge=1, le=_MAX_LIMIT)] = 100,
) -> Response:
    """The tenants after an id, in the order of their ids, and the ``next`` request's ``after``, if there are more."""
    draft = dependencies.tenants.draft()
    known, wanted = draft.tenants(), contains.lower()
    found = [each for each in known if wanted in each.lower()]
    later = sorted(each for each in found if each > after)
    page = later[:limit]
    return JsonResponse(
        {
            "tenants": [tenant_fields(draft, known[each], dependencies.settings) for each in page],
            "next": page[-1] if len(later) > limit else None,
            "total": len(found),
        }
    )


@router.get(f"{_PATH}/{{tenant:{REST}}}", dependencies=[require_operator("viewer"), TURN], responses=TENANT | refusals(404))
async def get_tenant(tenant: _TenantPath, dependencies: AppDependencies) -> Response:
    """One tenant."""
    known = dependencies.tenants.draft()
    found = tenant_of(known, tenant)
    return JsonResponse(tenant_fields(known, found, dependencies.settings), headers={"ETag": tag_of(found.revision)})


@router.post(_PATH, openapi_extra=body_schema(NewTenant), responses=KEY_MADE | refusals(404, 409))
async def create_tenant(
    operator: _Admin,
    body: Annotated[NewTenant, Depends(json_body(NewTenant))],
    dependencies: AppDependencies,
    settle: Settle = None,
) -> Response:
    """Adds a tenant with an API key. The key is shown only once."""
    key, now = new_api_key(), dependencies.clock.now()

    def change(draft: Draft) -> dict[str, Any]:
        add_tenant(draft, body.id, schema=body.schema_name, method=body.method, **body.given())
        return {"id": add_key(draft, body.id, hash_key(key), now=now, label=body.label).id, "key": key}

    return await write(dependencies, operator, change, action="tenant add", settle=bool(settle))


@router.patch(f"{_PATH}/{{tenant:{REST}}}", openapi_extra=body_schema(TenantChange), responses=CHANGED | refusals(404, 409, 412))
async def update_tenant(
    tenant: _TenantPath,
    operator: _Admin,
    body: Annotated[TenantChange, Depends(json_body(TenantChange))],
    dependencies: AppDependencies,
    if_match: IfMatch = None,
    settle: Settle = None,
) -> Response:
    """Sets fields of a tenant. The keys of a suspended tenant are rejected; messages that arrived before are still processed.

    `budget`, `quota` and the other objects are replaced whole: send the tenant's revision as `If-Match`, so that the change does not
    overwrite another one.
    """
    expected = expected_revisions(if_match)

    def change(draft: Draft) -> dict[str, Any]:
        set_tenant(draft, tenant, schema=body.schema_name, method=body.method, expected=expected, **body.given())
        return {}

    suspends = body.given().get("state") == "suspended"
    return await write(dependencies, operator, change, action="tenant set", settle=suspends if settle is None else settle)


@router.delete(f"{_PATH}/{{tenant:{REST}}}", responses=CHANGED | refusals(404, 409))
async def delete_tenant(tenant: _TenantPath, operator: _Admin, dependencies: AppDependencies, settle: Settle = None) -> Response:
    """Removes a tenant with its keys. Its records then count as those of an unknown tenant; its memories are kept."""
    return await revoke(dependencies, operator, lambda draft: remove_tenant(draft, tenant), action="tenant remove", settle=settle)


@router.post("/v1/admin/signing", openapi_extra=body_schema(SigningChange), responses=SIGNING | refusals(404, 409))
async def update_signing(
    operator: _Admin,
    body: Annotated[SigningChange, Depends(json_body(SigningChange))],
    dependencies: AppDependencies,
    settle: Settle = None,
) -> Response:
    """Sets whether a tenant's messages must be signed, adds or retires a key, and returns the resulting policy."""
    keyring, now = Keyring.of(dependencies.settings.signing), dependencies.clock.now()
    if body.add is not None and keyring is None:
        raise ProblemError(409, "change-refused", "set VARVE_SIGNING__SECRET in every process first: keys are derived from it")
    key = None if body.add is None or keyring is None else keyring.message_key(body.tenant, body.add).hex()

    def change(draft: Draft) -> dict[str, Any]:
        policy = change_signing(draft, body.tenant, now=now, required=body.required, retire=body.retire, add=body.add)
        return {**policy.model_dump(mode="json"), "key": key}

    return await write(dependencies, operator, change, action="signing", settle=bool(settle))
