"""``varve retention`` and ``varve holds``: remove what tenants keep no longer; place, list and release legal holds."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Final

import typer

from runtime.interruption import run
from varve.cli.options import ByOption, DataOption, TenantArgument, actor, attached_settings, print_notice, write_control
from varve.output import say_rows

if TYPE_CHECKING:
    from runtime.settings import Settings
    from streams.operations.retention.run import RetentionReport

_KINDS: Final = ("windows", "results", "extractions", "records", "reads")

app = typer.Typer(help="Retention: remove what is older than its tenant keeps.", no_args_is_help=True)
holds = typer.Typer(help="Legal holds: place, list, release.", no_args_is_help=True)

UserOption = Annotated[str | None, typer.Option(help="Only this user. Default: all users of the tenant.")]


@app.command("run")
def run_now(
    tenant: Annotated[
        list[str] | None, typer.Option(help="Only this tenant; may be repeated. Default: every tenant with a policy.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count what would be removed.")] = False,
    patience: Annotated[float, typer.Option(min=1, help="Seconds to wait for each stage.")] = 900.0,
    data: DataOption = None,
) -> None:
    """Remove what is older than its tenant's retention, while all stages run: results, raw messages, recorded reads. This cannot be undone.

    `varve tenants set TENANT --retention` sets the retention. One of the query services does the same every
    VARVE_RETENTION__INTERVAL_S. Users and tenants with a legal hold are left out.
    """
    report = run(_retain(attached_settings(data), tenant or [], dry_run=dry_run, patience=patience))
    say_rows(
        ("tenant", *_KINDS),
        ((name, *(str(counts[each]) for each in _KINDS)) for name, counts in sorted(report.found.items())),
    )


@holds.command("place")
def place(
    tenant: TenantArgument,
    reason: Annotated[str, typer.Option(help="Reason, such as the reference of the case. Stored permanently: do not name a person.")],
    user: UserOption = None,
    by: ByOption = None,
    data: DataOption = None,
) -> None:
    """Place a legal hold: retention removes nothing, and erasures are refused, until it is released."""
    from control.hold_changes import place_hold

    now, who = datetime.now(UTC), actor(by)
    write_control(
        attached_settings(data),
        lambda draft: place_hold(draft, tenant, user, at=now, by=who, reason=reason),
        action="hold place",
        by=by,
        settle=True,
    )


@holds.command("release")
def release(
    tenant: TenantArgument,
    user: UserOption = None,
    reason: Annotated[str, typer.Option(help="Reason. Stored permanently: do not name a person.")] = "",
    by: ByOption = None,
    data: DataOption = None,
) -> None:
    """Release a legal hold. The next run of retention removes what is too old; refused erasures have to be requested again."""
    from control.hold_changes import release_hold

    now, who = datetime.now(UTC), actor(by)
    write_control(
        attached_settings(data),
        lambda draft: release_hold(draft, tenant, user, at=now, by=who, reason=reason),
        action="hold release",
        by=by,
    )


@holds.command("list")
def list_all(
    tenant: Annotated[str | None, typer.Argument(help="Only this tenant. Default: all tenants.", show_default=False)] = None,
    data: DataOption = None,
) -> None:
    """List legal holds, also released ones: whose, since when, by whom, why. Users are shown as digests."""
    from control import Draft, read_control
    from control.hold import ALL_USERS

    found = Draft(run(read_control(attached_settings(data)))).holds(tenant)
    say_rows(
        ("tenant", "user", "placed", "by", "reason", "released", "by", "reason"),
        (
            (
                each.tenant,
                "all users" if each.subject == ALL_USERS else each.subject[:12],
                each.placed_at.isoformat(timespec="seconds"),
                each.placed_by,
                each.reason,
                "-" if each.released_at is None else each.released_at.isoformat(timespec="seconds"),
                each.released_by or "-",
                each.release_reason or "-",
            )
            for each in found
        ),
    )


async def _retain(settings: "Settings", tenants: list[str], *, dry_run: bool, patience: float) -> "RetentionReport":
    from runtime.redis.client import open_redis
    from streams.operations.retention.run import retain

    async with open_redis(settings.redis) as redis:
        return await retain(settings, redis=redis, tenants=tenants, dry_run=dry_run, patience_s=patience, notice=print_notice)
