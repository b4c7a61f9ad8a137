"""``varve keys`` and ``varve operators``: API keys of tenants, and operators' keys for ``/v1/admin``."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from runtime.interruption import run
from varve.cli.options import (
    ByOption,
    DataOption,
    TenantArgument,
    attached_settings,
    parse_time,
    print_key,
    print_notice,
    write_control,
)
from varve.output import say_rows

if TYPE_CHECKING:
    from control.access_keys import Key
    from runtime.settings import Settings

app = typer.Typer(help="API keys of tenants: add, list, rotate, revoke.", no_args_is_help=True)
operators = typer.Typer(help="Operators' keys, for `/v1/admin`: add, list, revoke.", no_args_is_help=True)

KeyArgument = Annotated[str, typer.Argument(metavar="KEY-ID", help="The key's id, as `list` shows it.")]
LabelOption = Annotated[str, typer.Option(help="What the key is for, such as its application. Lists and the audit show it.")]
ExpiresOption = Annotated[datetime | None, typer.Option(parser=parse_time, help="When the key stops working (ISO 8601). Default: never.")]


@app.command("add")
def add(
    tenant: TenantArgument,
    label: LabelOption = "",
    scope: Annotated[
        list[str] | None, typer.Option(help="ingest, recall, correct, operate or erase; may be repeated. Default: all but erase.")
    ] = None,
    user: Annotated[
        str | None, typer.Option(help="Bind the key to this user: it reads and writes no other user's memories. Default: all users.")
    ] = None,
    expires: ExpiresOption = None,
    by: ByOption = None,
    data: DataOption = None,
) -> None:
    """Add a key to a tenant and print it; only its hash is stored."""
    from control.access_keys import DEFAULT_SCOPES, SCOPES, hash_key, new_api_key
    from control.key_changes import add_key

    unknown = set(scope or ()) - set(SCOPES)
    if unknown:
        raise typer.BadParameter(f"{sorted(unknown)[0]!r} is not a scope; the scopes are {', '.join(SCOPES)}")
    scopes = tuple(each for each in SCOPES if each in (scope or DEFAULT_SCOPES))
    key, now = new_api_key(), datetime.now(UTC)
    write_control(
        attached_settings(data),
        lambda draft: add_key(draft, tenant, hash_key(key), now=now, label=label, scopes=scopes, user=user, expires=expires),
        action="key add",
        by=by,
    )
    print_key(key)


@app.command("rotate")
def rotate(
    tenant: TenantArgument,
    key_id: KeyArgument,
    overlap_s: Annotated[float, typer.Option(min=0, help="Seconds for which the old key stays valid.")] = 86400.0,
    by: ByOption = None,
    data: DataOption = None,
) -> None:
    """Replace a tenant's key and print the new one."""
    from control.access_keys import hash_key, new_api_key
    from control.key_changes import rotate_key

    key, now = new_api_key(), datetime.now(UTC)
    write_control(
        attached_settings(data),
        lambda draft: rotate_key(draft, tenant, key_id, hash_key(key), now=now, overlap=timedelta(seconds=overlap_s)),
        action="key rotate",
        by=by,
    )
    print_key(key)


@app.command("revoke")
def revoke(tenant: TenantArgument, key_id: KeyArgument, by: ByOption = None, data: DataOption = None) -> None:
    """Revoke a key. When this returns, no process accepts it, not even one without a connection to Kafka."""
    from control.key_changes import revoke_key

    write_control(attached_settings(data), lambda draft: revoke_key(draft, tenant, key_id), action="key revoke", by=by, settle=True)


@app.command("list")
def list_all(tenant: TenantArgument, data: DataOption = None) -> None:
    """List a tenant's keys: id, label, scopes, expiry and last use."""
    from control import Draft, read_control
    from control.key_usage import owner_of

    settings = attached_settings(data)
    known = Draft(run(read_control(settings))).tenant(tenant)
    _list(("scopes", "user"), ((each, (",".join(each.scopes), each.user or "-")) for each in known.keys), _uses(settings, owner_of(tenant)))


@operators.command("add")
def add_operator(
    label: LabelOption = "",
    role: Annotated[
        str, typer.Option(help="viewer (reads), operator (also handles dead letters) or admin (also changes the control log).")
    ] = "admin",
    expires: ExpiresOption = None,
    by: ByOption = None,
    data: DataOption = None,
) -> None:
    """Add an operator's key and print it; only its hash is stored."""
    from control.access_keys import ROLES, hash_key, new_operator_key
    from control.key_changes import add_operator_key

    known = next((each for each in ROLES if each == role), None)
    if known is None:
        raise typer.BadParameter(f"{role!r} is not a role; the roles are {', '.join(ROLES)}")
    key, now = new_operator_key(), datetime.now(UTC)
    write_control(
        attached_settings(data),
        lambda draft: add_operator_key(draft, hash_key(key), now=now, label=label, role=known, expires=expires),
        action="operator add",
        by=by,
    )
    print_key(key)


@operators.command("revoke")
def revoke_operator(key_id: KeyArgument, by: ByOption = None, data: DataOption = None) -> None:
    """Revoke an operator's key. When this returns, no process accepts it, not even one without a connection to Kafka."""
    from control.key_changes import revoke_operator_key

    write_control(attached_settings(data), lambda draft: revoke_operator_key(draft, key_id), action="operator revoke", by=by, settle=True)


@operators.command("list")
def list_operators(data: DataOption = None) -> None:
    """List operators' keys: id, label, role, expiry and last use."""
    from control import read_control
    from control.key_usage import OPERATORS

    settings = attached_settings(data)
    _list(("role",), ((each, (each.role,)) for each in run(read_control(settings)).operators.keys), _uses(settings, OPERATORS))


def _uses(settings: "Settings", owner: str) -> "dict[str, datetime] | None":
    """The last use of each of an owner's keys; None while Redis is unavailable."""
    from control.key_usage import KeyUsage
    from runtime.errors import RedisUnavailableError
    from runtime.redis.client import open_redis

    async def read() -> dict[str, datetime]:
        async with open_redis(settings.redis) as redis:
            return await KeyUsage(redis=redis).of(owner)

    try:
        return run(read())
    except RedisUnavailableError as error:
        print_notice(f"the last use of keys is unknown: {error}")
        return None


def _list(names: tuple[str, ...], keys: "Iterable[tuple[Key, tuple[str, ...]]]", uses: "dict[str, datetime] | None") -> None:
    """Prints keys in columns: id, label, then the given columns, expiry and last use."""
    now = datetime.now(UTC)
    say_rows(
        ("key", "label", *names, "expires", "last used"),
        ((key.id, key.label or "-", *opens, _expiry(key, now), "?" if uses is None else _shown(uses.get(key.id))) for key, opens in keys),
    )


def _expiry(key: "Key", now: datetime) -> str:
    return f"{_shown(key.expires)}{' (expired)' if key.is_expired(now) else ''}"


def _shown(time: datetime | None) -> str:
    return "-" if time is None else time.isoformat(timespec="seconds")
