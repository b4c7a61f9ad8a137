"""``varve erase`` and ``varve erasures``: erase users everywhere, with receipts, and check for remains."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from memory.texts.text import counted
from runtime.interruption import run
from varve.cli.options import ByOption, DataOption, TenantArgument, actor, attached_settings, print_notice
from varve.errors import UsersMissingError
from varve.output import confirm, say

if TYPE_CHECKING:
    from control.erasure import Erasure
    from runtime.settings import Settings
    from streams.operations.erasure.remnants import Remnant

app = typer.Typer()
group = typer.Typer(help="Erasures: list receipts, check for remains.", no_args_is_help=True)

_STANDARD_INPUT: Final = Path("-")

UserArgument = Annotated[str, typer.Argument(help="The user, as messages name it.")]


@app.command()
def erase(
    tenant: TenantArgument,
    users: Annotated[list[str] | None, typer.Argument(help="The users, as messages name them.", show_default=False)] = None,
    users_from: Annotated[
        Path | None, typer.Option("--from", help="File with one user per line; - for standard input.", metavar="FILE")
    ] = None,
    reason: Annotated[str, typer.Option(help="Reason. Stored permanently in the control log and the audit: do not name a person.")] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    patience: Annotated[float, typer.Option(min=1, help="Seconds to wait for each stage.")] = 900.0,
    by: ByOption = None,
    data: DataOption = None,
) -> None:
    """Erase users from every topic, state and store while all stages run, and print the receipts. This cannot be undone.

    Erasing many users takes about as long as erasing one. Messages sent after the erasure are kept; run the command again to erase
    those. If it is interrupted, a query service resumes it, or you can run it again.
    """
    named = [*(users or ()), *_lines(users_from)]
    if not named:
        raise UsersMissingError("no user is given: name users, or a file of them with --from")
    settings = attached_settings(data)
    if not yes:
        if users_from == _STANDARD_INPUT:
            raise UsersMissingError("users were read from the standard input, so no confirmation can be asked: add --yes")
        who = f"user {named[0]!r}" if len(named) == 1 else counted(len(named), "user")
        confirm(f"erase {who} of tenant {tenant!r} for good?")
    receipts = run(_erase(settings, tenant, named, reason=reason, by=actor(by), patience=patience))
    for line in (line for each in receipts for line in receipt_lines(each)):
        say(line)


@group.command("list")
def list_all(tenant: TenantArgument, data: DataOption = None) -> None:
    """List a tenant's erasures with their receipts. Users are shown as digests."""
    from control import Draft, read_control

    for erasure in Draft(run(read_control(attached_settings(data)))).erasures(tenant):
        for line in receipt_lines(erasure):
            say(line)


@group.command("check")
def check(tenant: TenantArgument, user: UserArgument, data: DataOption = None) -> None:
    """Show where a user is still named: in every topic and changelog, in the vector store, among erasures under way.

    Files of the data folder that name the user are shown as well: local tables, the embedded Redis and vector store. The exit code
    is 1 if anything remains.
    """
    found = run(_remnants(attached_settings(data), tenant, user))
    for each in found:
        say(f"{each.place}\t{each.standing} standing\t{each.on_disk} on disk")
    if any(each.standing for each in found):
        raise typer.Exit(1)


def receipt_lines(receipt: "Erasure") -> list[str]:
    """An erasure as lines for people."""
    found = ", ".join(f"{count} {what.replace('_', ' ')}" for what, count in sorted(receipt.found.items()))
    state = "under way" if receipt.finished_at is None else f"done {receipt.finished_at.isoformat(timespec='seconds')}"
    lines = [f"{receipt.subject[:12]}\tasked {receipt.requested_at.isoformat(timespec='seconds')}\t{state}\t{found or '-'}"]
    if receipt.gone_by is not None:
        lines.append(f"\tthe last bytes are deleted from the disks by {receipt.gone_by.isoformat(timespec='seconds')}")
    return lines + [f"\tremains: {each}" for each in receipt.remains]


def _lines(file: Path | None) -> list[str]:
    if file is None:
        return []
    try:
        text = sys.stdin.read() if file == _STANDARD_INPUT else file.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise UsersMissingError(f"{file} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    # Not every character that Python takes for the end of a line: a name may have one.
    return [name for line in text.split("\n") if (name := line.removesuffix("\r"))]


async def _erase(settings: "Settings", tenant: str, users: Sequence[str], *, reason: str, by: str, patience: float) -> "list[Erasure]":
    from runtime.redis.client import open_redis
    from stores.build import open_store
    from streams.operations.erasure.erase import erase as erase_users

    async with open_store(settings) as store, open_redis(settings.redis) as redis:
        return await erase_users(
            settings, tenant, users, by=by, reason=reason, store=store, redis=redis, patience_s=patience, notice=print_notice
        )


async def _remnants(settings: "Settings", tenant: str, user: str) -> "list[Remnant]":
    from runtime.redis.client import open_redis
    from stores.build import open_store
    from streams.operations.erasure.remnants import remnants

    async with open_store(settings) as store, open_redis(settings.redis) as redis:
        return await remnants(settings, tenant, user, store=store, redis=redis)
