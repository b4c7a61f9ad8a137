"""``varve trust``: trust in the sources of memories: set, list, apply."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from runtime.interruption import run
from varve.cli.options import ByOption, DataOption, TenantArgument, actor, attached_settings, print_notice, write_control
from varve.output import say, say_rows

if TYPE_CHECKING:
    from runtime.settings import Settings

app = typer.Typer(help="Trust in the sources of memories: set, list, apply.", no_args_is_help=True)

PatienceOption = Annotated[float, typer.Option(min=1, help="Seconds to wait for the events stage.")]


@app.command("set")
def set_levels(
    tenant: TenantArgument,
    levels: Annotated[
        list[str] | None,
        typer.Argument(
            help="SOURCE=LEVEL, such as tool:browser=untrusted. The level is trusted, normal, untrusted or distrusted; none removes it.",
            show_default=False,
        ),
    ] = None,
    entities_from: Annotated[
        str | None,
        typer.Option(help="Lowest level of what changes entities: normal, or untrusted. Default: unchanged, at first normal."),
    ] = None,
    apply: Annotated[
        bool, typer.Option("--apply/--no-apply", help="Whether to apply the levels to what was extracted before, and wait for it.")
    ] = True,
    patience: PatienceOption = 900.0,
    by: ByOption = None,
    data: DataOption = None,
) -> None:
    """Set the trust in sources of a tenant's memories.

    A source is role:NAME, speaker:NAME, tool:NAME, app:NAME, channel:NAME or source:NAME; tool:* is every tool without its own level.
    A memory has the lowest level of its sources. Untrusted memories change no entity; distrusted ones leave entities and recalls until
    their source is trusted again.
    """
    from control.trust_changes import change_trust

    now, given = datetime.now(UTC), dict(map(_level, levels or ()))
    wanted: Any = entities_from
    settings = attached_settings(data)
    write_control(
        settings,
        lambda draft: change_trust(draft, tenant, now=now, sources=given, entities_from=wanted),
        action="trust set",
        by=by,
        prints_changes=True,
    )
    if apply:
        _print(run(_apply(settings, [tenant], actor(by), patience)))


@app.command("list")
def list_all(tenant: TenantArgument, data: DataOption = None) -> None:
    """List a tenant's levels, their version, and whether they are applied to what was extracted before."""
    from control import Draft, read_control

    trust = Draft(run(read_control(attached_settings(data)))).tenant(tenant).trust
    if trust.changed_at is None:
        say("no levels are set: every source is normal")
    else:
        applied = "applied" if trust.is_applied else "not applied yet"
        since = trust.changed_at.isoformat(timespec="seconds")
        say(f"version {trust.version} of {since}, {applied}; memories from the level {trust.entities_from} up change entities")
    say_rows(("source", "level"), trust.sources.items())


@app.command("apply")
def apply_now(
    tenant: Annotated[
        list[str] | None, typer.Option(help="Only this tenant; may be repeated. Default: every tenant with unapplied levels.")
    ] = None,
    patience: PatienceOption = 900.0,
    by: ByOption = None,
    data: DataOption = None,
) -> None:
    """Apply changed levels to what was extracted before. One of the query services does the same every VARVE_TRUST__INTERVAL_S."""
    _print(run(_apply(attached_settings(data), tenant or [], actor(by), patience)))


def _level(text: str) -> tuple[str, Any]:
    source, equals, level = text.rpartition("=")
    if not equals or not source:
        raise typer.BadParameter(f"{text!r} is not SOURCE=LEVEL, such as tool:browser=untrusted")
    return source, None if level == "none" else level


def _print(counts: dict[str, int]) -> None:
    say_rows(("tenant", "windows reviewed"), ((name, str(count)) for name, count in sorted(counts.items())))


async def _apply(settings: "Settings", tenants: list[str], by: str, patience: float) -> dict[str, int]:
    from streams.operations.trust import apply_trust

    return await apply_trust(settings, by=by, tenants=tenants, patience_s=patience, notice=print_notice)
