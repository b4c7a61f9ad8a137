"""``/v1/admin/webhooks``: webhooks of tenants. The counterpart of ``varve webhooks``."""

import secrets
from datetime import timedelta
from functools import partial
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
from api.problems import ProblemError
from api.response_models.admin import CHANGED
from api.response_models.webhooks import WEBHOOK_DEAD_LETTERS, WEBHOOK_MADE, WEBHOOK_REDRIVEN, WEBHOOK_TRIAL, WEBHOOKS
from api.webhooks.addresses import parse_url, require_public_host
from api.webhooks.errors import SecretMissingError, TargetRefusedError
from api.webhooks.payload import trial_body
from api.webhooks.sender import open_sender
from api.webhooks.signing import SigningSecrets
from api.webhooks.topic import read_deliveries, redrive
from api.writes.control_changes import OverlapSeconds, Settle, TenantQuery, revoke, tenant_of, write
from control.access_keys import OperatorKey
from control.document_base import Label
from control.documents import Tenant
from control.draft import Draft
from control.errors import ChangeRefusedError
from control.webhook_changes import add_webhook, remove_webhook, rotate_webhook_secret, webhook_of
from control.webhooks import MemoryKind, Webhook, WebhookUrl
from memory.records.message import Name

router = APIRouter(tags=["operators"])

_PATH: Final = "/v1/admin/webhooks"
_MOST_DEAD_LETTERS: Final = 1000

_Admin = Annotated[OperatorKey, require_operator("admin")]
_WebhookPath = Annotated[str, Path(max_length=40)]


class NewWebhook(RequestModel):
    """A webhook to add."""

    tenant: Name
    url: WebhookUrl
    """An ``https`` URL of a public host."""
    label: Label = ""
    kinds: tuple[MemoryKind, ...] = Field(default=(), max_length=4)
    """Only changes of these kinds of memories; empty: all."""
    content: bool = True
    """Whether deliveries contain the memory."""


class SecretRotation(RequestModel):
    """The webhook that gets a new secret."""

    tenant: Name
    overlap_s: OverlapSeconds = 86400.0
    """Seconds for which deliveries are signed with the old secret as well."""


class WebhookRef(RequestModel):
    """The tenant of the webhook."""

    tenant: Name


@router.get(_PATH, dependencies=[require_operator("viewer"), TURN], responses=WEBHOOKS | refusals(404))
async def list_webhooks(tenant: TenantQuery, dependencies: AppDependencies) -> Response:
    """A tenant's webhooks, without their secrets."""
    found = tenant_of(dependencies.tenants.draft(), tenant)
    return JsonResponse({"webhooks": [_fields(each) for each in found.webhooks]})


@router.post(_PATH, openapi_extra=body_schema(NewWebhook), responses=WEBHOOK_MADE | refusals(404, 409))
async def create_webhook(
    operator: _Admin, body: Annotated[NewWebhook, Depends(json_body(NewWebhook))], dependencies: AppDependencies, settle: Settle = None
) -> Response:
    """Adds a webhook to a tenant. Its signing secret is shown only once."""
    keys, allow_private = _secrets(dependencies), dependencies.settings.webhooks.allow_private
    try:
        parts = parse_url(body.url, allow_private=allow_private)
        if not allow_private:
            await require_public_host(parts)
    except TargetRefusedError as error:
        raise ProblemError(422, "invalid", f"url: {error}") from error
    webhook_id, secret_id = f"wh_{secrets.token_hex(8)}", secrets.token_hex(8)

    def change(draft: Draft) -> dict[str, Any]:
        add_webhook(
            draft,
            body.tenant,
            webhook_id,
            secret_id,
            url=body.url,
            now=dependencies.clock.now(),
            label=body.label,
            kinds=body.kinds,
            with_content=body.content,
        )
        return {"id": webhook_id, "secret": keys.shown(body.tenant, webhook_id, secret_id)}

    return await write(dependencies, operator, change, action="webhook add", settle=bool(settle))


@router.post(_PATH + "/{webhook_id}/rotate", openapi_extra=body_schema(SecretRotation), responses=WEBHOOK_MADE | refusals(404, 409))
async def rotate_webhook(
    webhook_id: _WebhookPath,
    operator: _Admin,
    body: Annotated[SecretRotation, Depends(json_body(SecretRotation))],
    dependencies: AppDependencies,
    settle: Settle = None,
) -> Response:
    """Gives a webhook a new secret, which is shown only once. Deliveries are signed with both for a while."""
    keys, secret_id = _secrets(dependencies), secrets.token_hex(8)

    def change(draft: Draft) -> dict[str, Any]:
        now, overlap = dependencies.clock.now(), timedelta(seconds=body.overlap_s)
        rotate_webhook_secret(draft, body.tenant, webhook_id, secret_id, now=now, overlap=overlap)
        return {"id": webhook_id, "secret": keys.shown(body.tenant, webhook_id, secret_id)}

    return await write(dependencies, operator, change, action="webhook rotate", settle=bool(settle))


@router.delete(_PATH + "/{webhook_id}", responses=CHANGED | refusals(404, 409))
async def delete_webhook(
    webhook_id: _WebhookPath, tenant: TenantQuery, operator: _Admin, dependencies: AppDependencies, settle: Settle = None
) -> Response:
    """Removes a webhook, with its waiting deliveries and dead letters. After the response no process sends to it any more."""
    change = partial(remove_webhook, tenant_id=tenant, webhook_id=webhook_id)
    return await revoke(dependencies, operator, change, action="webhook remove", settle=settle)


@router.get(
    _PATH + "/{webhook_id}/dead-letters",
    dependencies=[require_operator("viewer"), TURN],
    responses=WEBHOOK_DEAD_LETTERS | refusals(404, 409),
)
async def list_webhook_dead_letters(webhook_id: _WebhookPath, tenant: TenantQuery, dependencies: AppDependencies) -> Response:
    """The dead letters of a webhook, oldest change first (at most 1,000), and the numbers of dead letters and of waiting deliveries.

    They name the change and the last failure, and have no content.
    """
    _webhook(dependencies, tenant, webhook_id)
    found = await read_deliveries(dependencies.settings, tenant, webhook_id)
    dead = [each for each in found if each.state == "dead"]
    shown = [
        each.model_dump(mode="json", include={"id", "event", "memory_id", "changed_at", "attempts", "problem", "dead_at", "redriven"})
        for each in dead[:_MOST_DEAD_LETTERS]
    ]
    return JsonResponse({"dead_letters": shown, "dead": len(dead), "pending": len(found) - len(dead)})


@router.post(_PATH + "/{webhook_id}/redrive", openapi_extra=body_schema(WebhookRef), responses=WEBHOOK_REDRIVEN | refusals(404, 409))
async def redrive_webhook(
    webhook_id: _WebhookPath,
    operator: Annotated[OperatorKey, require_operator("operator")],
    body: Annotated[WebhookRef, Depends(json_body(WebhookRef))],
    dependencies: AppDependencies,
) -> Response:
    """Sends the dead letters of a webhook again, with their ids."""
    _webhook(dependencies, body.tenant, webhook_id)
    return JsonResponse({"redriven": await redrive(dependencies.settings, dependencies.producer, body.tenant, webhook_id)})


@router.post(_PATH + "/{webhook_id}/test", openapi_extra=body_schema(WebhookRef), responses=WEBHOOK_TRIAL | refusals(404, 409))
async def try_webhook(
    webhook_id: _WebhookPath,
    operator: Annotated[OperatorKey, require_operator("operator")],
    body: Annotated[WebhookRef, Depends(json_body(WebhookRef))],
    dependencies: AppDependencies,
) -> Response:
    """Sends a signed event of the type ``webhook.test`` to a webhook once, and returns the outcome."""
    keys = _secrets(dependencies)
    webhook = _webhook(dependencies, body.tenant, webhook_id)
    message_id = f"msg_{secrets.token_hex(16)}"
    async with open_sender(keys, dependencies.settings.webhooks, clock=dependencies.clock) as sender:
        failure = await sender.send(body.tenant, webhook, message_id=message_id, body=trial_body(dependencies.clock.now()))
    return JsonResponse({"id": message_id, "delivered": failure is None, "problem": None if failure is None else failure.problem})


def _secrets(dependencies: Dependencies) -> SigningSecrets:
    try:
        return SigningSecrets.of(dependencies.settings.signing)
    except SecretMissingError as error:
        raise ChangeRefusedError(str(error)) from error


def _webhook(dependencies: Dependencies, tenant_id: str, webhook_id: str) -> Webhook:
    """A webhook that a request names.

    Raises:
        ProblemError: 404 if it does not exist.
    """
    tenant: Tenant = tenant_of(dependencies.tenants.draft(), tenant_id)
    try:
        return webhook_of(tenant, webhook_id)
    except ChangeRefusedError as error:
        raise ProblemError(404, "not-found", str(error)) from error


def _fields(webhook: Webhook) -> dict[str, Any]:
    return {
        "id": webhook.id,
        "url": webhook.url,
        "label": webhook.label,
        "kinds": webhook.kinds,
        "content": webhook.with_content,
        "created": webhook.created,
        "secrets": [{"id": each.id, "until": each.until} for each in webhook.secrets],
    }
