"""``varve webhooks``: receivers of the changes of a tenant's memories."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from memory.errors import VarveError
from runtime.interruption import run
from varve.cli.options import ByOption, DataOption, TenantArgument, attached_settings, print_notice, settings_of_stack, write_control
from varve.output import say, say_rows

if TYPE_CHECKING:
    from control.webhooks import Webhook
    from runtime.settings import Settings

app = typer.Typer(help="Webhooks of tenants: add, list, test, rotate the secret, redrive, remove.", no_args_is_help=True)

WebhookArgument = Annotated[str, typer.Argument(metavar="WEBHOOK-ID", help="The webhook's id, as `list` shows it.")]


class TrialFailedError(VarveError):
    """A test delivery failed."""


@app.command("add")
def add(
    tenant: TenantArgument,
    url: Annotated[str, typer.Argument(help="An https URL of a public host.")],
    kind: Annotated[
        list[str] | None, typer.Option(help="Only changes of event, entity, summary or segment; may be repeated. Default: all.")
    ] = None,
    content: Annotated[bool, typer.Option(help="Whether deliveries contain the memory.")] = True,
    label: Annotated[str, typer.Option(help="What the webhook is for, such as the receiver. Lists show it.")] = "",
    by: ByOption = None,
    data: DataOption = None,
) -> None:
    """Add a webhook and print its id and its signing secret, which is shown only once."""
    import secrets

    from api.webhooks.addresses import parse_url, require_public_host
    from api.webhooks.signing import SigningSecrets
    from control.webhook_changes import add_webhook

    settings = run(settings_of_stack(data))  # a stack that starts may have the secret
    keys, allow_private = SigningSecrets.of(settings.signing), settings.webhooks.allow_private
    parts = parse_url(url, allow_private=allow_private)
    if not allow_private:
        run(require_public_host(parts))
    webhook_id, secret_id = f"wh_{secrets.token_hex(8)}", secrets.token_hex(8)
    write_control(
        settings,
        lambda draft: add_webhook(
            draft,
            tenant,
            webhook_id,
            secret_id,
            url=url,
            now=datetime.now(UTC),
            label=label,
            kinds=kind or (),
            with_content=content,
        ),
        action="webhook add",
        by=by,
    )
    _print_secret(webhook_id, keys.shown(tenant, webhook_id, secret_id))


@app.command("rotate")
def rotate(
    tenant: TenantArgument,
    webhook_id: WebhookArgument,
    overlap_s: Annotated[float, typer.Option(min=0, help="Seconds for which deliveries are signed with the old secret, too.")] = 86400.0,
    by: ByOption = None,
    data: DataOption = None,
) -> None:
    """Give a webhook a new signing secret and print it."""
    import secrets

    from api.webhooks.signing import SigningSecrets
    from control.webhook_changes import rotate_webhook_secret

    settings = run(settings_of_stack(data))  # a stack that starts may have the secret
    keys, secret_id = SigningSecrets.of(settings.signing), secrets.token_hex(8)
    write_control(
        settings,
        lambda draft: rotate_webhook_secret(
            draft, tenant, webhook_id, secret_id, now=datetime.now(UTC), overlap=timedelta(seconds=overlap_s)
        ),
        action="webhook rotate",
        by=by,
    )
    _print_secret(webhook_id, keys.shown(tenant, webhook_id, secret_id))


@app.command("remove")
def remove(tenant: TenantArgument, webhook_id: WebhookArgument, by: ByOption = None, data: DataOption = None) -> None:
    """Remove a webhook, with its waiting deliveries and dead letters. When this returns, no process sends to it any more."""
    from control.webhook_changes import remove_webhook

    write_control(
        attached_settings(data),
        lambda draft: remove_webhook(draft, tenant, webhook_id),
        action="webhook remove",
        by=by,
        settle=True,
    )


@app.command("list")
def list_all(tenant: TenantArgument, data: DataOption = None) -> None:
    """List a tenant's webhooks, with the numbers of waiting deliveries and of dead letters, and the last failure."""
    from api.webhooks.topic import read_deliveries

    settings = attached_settings(data)
    rows = []
    for webhook in _webhooks(settings, tenant):
        found = run(read_deliveries(settings, tenant, webhook.id))
        dead = sum(each.state == "dead" for each in found)
        problem = next((each.problem for each in reversed(found) if each.problem), "-")
        kinds = ",".join(webhook.kinds) or "all"
        rows.append((webhook.id, webhook.label or "-", webhook.url, kinds, str(len(found) - dead), str(dead), problem))
    say_rows(("webhook", "label", "url", "kinds", "waiting", "dead", "last failure"), rows)


@app.command("redrive")
def redrive(tenant: TenantArgument, webhook_id: WebhookArgument, data: DataOption = None) -> None:
    """Send the dead letters of a webhook again, with their ids."""
    from api.webhooks import topic
    from runtime.kafka import Producer

    settings = attached_settings(data)
    _webhook(settings, tenant, webhook_id)

    async def send() -> int:
        async with Producer(kafka=settings.kafka) as producer:
            return await topic.redrive(settings, producer, tenant, webhook_id)

    say(f"deliveries to send again: {run(send())}")


@app.command("test")
def try_out(tenant: TenantArgument, webhook_id: WebhookArgument, data: DataOption = None) -> None:
    """Send a signed event of the type webhook.test from this machine, and print the outcome."""
    import secrets

    from api.webhooks.payload import trial_body
    from api.webhooks.sender import open_sender
    from api.webhooks.signing import SigningSecrets

    settings = run(settings_of_stack(data))  # a stack that starts may have the secret
    keys, webhook = SigningSecrets.of(settings.signing), _webhook(settings, tenant, webhook_id)
    message_id = f"msg_{secrets.token_hex(16)}"

    async def send() -> str | None:
        async with open_sender(keys, settings.webhooks) as sender:
            failure = await sender.send(tenant, webhook, message_id=message_id, body=trial_body(datetime.now(UTC)))
            return None if failure is None else failure.problem

    problem = run(send())
    if problem is not None:
        raise TrialFailedError(f"{message_id} was not delivered: {problem}")
    say(f"{message_id} was delivered")


def _webhooks(settings: "Settings", tenant: str) -> "tuple[Webhook, ...]":
    from control import Draft, read_control

    return Draft(run(read_control(settings))).tenant(tenant).webhooks


def _webhook(settings: "Settings", tenant: str, webhook_id: str) -> "Webhook":
    from control import Draft, read_control
    from control.webhook_changes import webhook_of

    return webhook_of(Draft(run(read_control(settings))).tenant(tenant), webhook_id)


def _print_secret(webhook_id: str, secret: str) -> None:
    say(webhook_id)
    say(secret)
    print_notice("the secret above is shown only once")
