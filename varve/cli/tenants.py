"""``varve tenants``: tenants and their schemas, budgets and quotas."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import orjson
import typer

from memory.texts.text import counted
from runtime.interruption import run
from varve.cli.options import (
    ByOption,
    DataOption,
    MethodOption,
    SchemaOption,
    TenantArgument,
    attached_settings,
    method_argument,
    print_key,
    print_notice,
    schema_argument,
    settings_of_stack,
    write_control,
)
from varve.output import say, say_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from control import Draft
    from runtime.settings import BudgetSettings, QuotaSettings, Settings

app = typer.Typer(
    help="Tenants: add, list, change, suspend, resume, remove; sign messages; move to a separate shard.", no_args_is_help=True
)


@app.command("add")
def add(
    tenant: TenantArgument,
    schema: SchemaOption = "companion",
    method: MethodOption = None,
    label: Annotated[str, typer.Option(help="What its first key is for, such as an application. Lists and the audit show it.")] = "",
    by: ByOption = None,
    data: DataOption = None,
) -> None:
    """Add a tenant and print its API key; only the key's hash is stored."""
    from control.access_keys import hash_key, new_api_key
    from control.key_changes import add_key
    from control.tenant_changes import add_tenant
    from runtime.clocks import SystemClock

    key, named, document, now = new_api_key(), schema_argument(schema), method_argument(method), SystemClock().now()

    def change(draft: "Draft") -> bool:
        returns = draft.find_tenant(tenant) is not None
        add_tenant(draft, tenant, schema=named, method=document)
        add_key(draft, tenant, hash_key(key), now=now, label=label)
        return returns

    returns = write_control(attached_settings(data), change, action="tenant add", by=by)
    print_key(key)
    if returns:
        print_notice(f"tenant {tenant} was removed before: its keys read what it had stored; if it is not the same, take another id")


@app.command("set")
def set_fields(
    tenant: TenantArgument,
    schema: Annotated[str | None, typer.Option(help="NAME or NAME@REVISION of a schema, or a path.")] = None,
    method: MethodOption = None,
    weight: Annotated[float | None, typer.Option(help="Share of a stage's work when tenants compete. Default: 1.")] = None,
    budget: Annotated[
        str | None, typer.Option(help="JSON that overrides VARVE_BUDGET__* and replaces the tenant's earlier budget; null removes a limit.")
    ] = None,
    quota: Annotated[
        str | None, typer.Option(help="JSON that overrides VARVE_QUOTA__* and replaces the tenant's earlier quota; null removes a limit.")
    ] = None,
    messages: Annotated[
        str | None,
        typer.Option(help='JSON for its messages, such as {"time_zone": "Europe/Oslo", "unescape": ["html", "slack"]}; {} resets it.'),
    ] = None,
    retention: Annotated[
        str | None,
        typer.Option(
            help='JSON: how long to keep each type, raw messages and recorded reads, such as {"mood": "90d", "messages": "1y", "*": "2y"}; '
            "{} keeps all."
        ),
    ] = None,
    redaction: Annotated[
        str | None,
        typer.Option(
            help='JSON: personal data that models do not see, such as {"kinds": ["email", "phone", "iban", "card", "ip", "national_id"], '
            '"restore": true, "region": "NO"}; {} shows them everything.'
        ),
    ] = None,
    by: ByOption = None,
    data: DataOption = None,
) -> None:
    """Change a tenant's settings; print each changed field."""
    from control.tenant_changes import set_tenant

    given = {"weight": weight, "budget": _from_json(budget), "quota": _from_json(quota), "messages": _from_json(messages)}
    given |= {"retention": _from_json(retention), "redaction": _from_json(redaction)}
    fields = {name: value for name, value in given.items() if value is not None}
    named, document = None if schema is None else schema_argument(schema), method_argument(method)
    write_control(
        attached_settings(data),
        lambda draft: set_tenant(draft, tenant, schema=named, method=document, **fields),
        action="tenant set",
        by=by,
        prints_changes=True,
    )


@app.command("suspend")
def suspend(tenant: TenantArgument, by: ByOption = None, data: DataOption = None) -> None:
    """Make a tenant's keys invalid; messages that were accepted before are still processed."""
    _set_state(tenant, "suspended", by, data)


@app.command("resume")
def resume(tenant: TenantArgument, by: ByOption = None, data: DataOption = None) -> None:
    """Make a suspended tenant's keys valid again."""
    _set_state(tenant, "active", by, data)


@app.command("remove")
def remove(tenant: TenantArgument, by: ByOption = None, data: DataOption = None) -> None:
    """Remove a tenant with its keys. New records of it become dead letters; its memories are not deleted."""
    from control.tenant_changes import remove_tenant

    write_control(attached_settings(data), lambda draft: remove_tenant(draft, tenant), action="tenant remove", by=by, settle=True)


@app.command("list")
def list_all(data: DataOption = None) -> None:
    """List tenants with schema, number of keys, state, and their own weight, quota and budget."""
    from control import Draft, read_control

    tenants = Draft(run(read_control(attached_settings(data)))).tenants().values()
    say_rows(
        ("tenant", "schema", "keys", "state", "weight", "quota", "budget"),
        (
            (
                tenant.id,
                str(tenant.live_schema),
                str(len(tenant.keys)),
                tenant.state,
                f"{tenant.weight:g}",
                _own(tenant.quota),
                _own(tenant.budget),
            )
            for tenant in tenants
        ),
    )


@app.command("promote")
def promote(tenant: TenantArgument, data: DataOption = None) -> None:
    """Move a large tenant to its own shard on a Qdrant cluster, without downtime. If interrupted, run it again to continue."""
    from varve.errors import SettingsError

    settings = attached_settings(data)
    if settings.store.kind == "edge":
        raise SettingsError("VARVE_STORE__KIND is edge, which is one shard: set it to server, and VARVE_STORE__URL to a Qdrant cluster's")
    points = run(_promoted(tenant, settings, print_notice))
    say(f"{tenant} has its own shard, of {counted(points, 'point')}")


async def _promoted(tenant: str, settings: "Settings", notice: "Callable[[str], None]") -> int:
    from stores.server.connection import connected
    from stores.server.nodes import QdrantNodes
    from stores.server.promotion import TenantPromotion

    collection = settings.store.collection
    nodes = QdrantNodes(connected(settings.store), collection=collection)
    try:
        return await TenantPromotion(client=await nodes.answering(), collection=collection).promote(tenant, notice=notice)
    finally:
        await nodes.close()


@app.command("signing-secret")
def signing_secret() -> None:
    """Print a new master secret for `VARVE_SIGNING__SECRET`. It is not stored."""
    from varve.embedded.private_files import new_secret

    say(new_secret())


@app.command("signing-key")
def signing_key(
    tenant: TenantArgument,
    key_id: Annotated[
        str, typer.Argument(help="Id of the key: a new one adds a key, a known one prints it again. A retired one is valid again.")
    ],
    by: ByOption = None,
    data: DataOption = None,
) -> None:
    """Add a signing key for the tenant's Kafka producers, and print it in hexadecimal."""
    from control.tenant_changes import change_signing
    from runtime.clocks import SystemClock
    from runtime.seals import Keyring
    from varve.errors import SettingsError

    settings = run(settings_of_stack(data))  # a stack that starts may have the secret
    keyring = Keyring.of(settings.signing)
    if keyring is None:
        raise SettingsError("set VARVE_SIGNING__SECRET in every process first (`varve tenants signing-secret` prints one)")
    now = SystemClock().now()
    write_control(settings, lambda draft: change_signing(draft, tenant, now=now, add=key_id), action="signing key", by=by)
    say(keyring.message_key(tenant, key_id).hex())


@app.command("signing")
def signing(
    tenant: TenantArgument,
    required: Annotated[
        bool | None, typer.Option("--required/--optional", help="Whether messages produced from now on must be signed.")
    ] = None,
    retire: Annotated[str | None, typer.Option(help="Id of a key that is no longer valid for new messages.")] = None,
    by: ByOption = None,
    data: DataOption = None,
) -> None:
    """Require signed messages of a tenant, retire a signing key, or show both."""
    from control.tenant_changes import change_signing
    from runtime.clocks import SystemClock

    now = SystemClock().now()
    policy = write_control(
        attached_settings(data),
        lambda draft: change_signing(draft, tenant, now=now, required=required, retire=retire),
        action="signing",
        by=by,
    )
    say("optional" if policy.required_since is None else f"required since {policy.required_since.isoformat()}")
    for key in policy.keys:
        say(f"{key.id}\t{'valid' if key.until is None else f'retired at {key.until.isoformat()}'}")


def _own(group: "BudgetSettings | QuotaSettings") -> str:
    """A tenant's own values in the form of ``set``; all others follow the settings."""
    own = group.model_dump(mode="json", exclude_unset=True)
    return orjson.dumps(own).decode() if own else "-"


def _from_json(text: str | None) -> Any:
    try:
        return None if text is None else orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise typer.BadParameter(f"{text!r} is not JSON: {error}") from error


def _set_state(tenant: str, state: str, by: str | None, data: Path | None) -> None:
    from control.tenant_changes import set_tenant

    write_control(
        attached_settings(data),
        lambda draft: set_tenant(draft, tenant, state=state),
        action=f"tenant {state}",
        by=by,
        settle=state == "suspended",
    )
