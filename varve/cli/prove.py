"""``varve prove``: compares the memories that are served with those that the log gives."""

import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from memory.texts.text import counted
from runtime.interruption import run
from varve.cli.options import DataOption, attached_settings, print_notice
from varve.output import say, say_rows

if TYPE_CHECKING:
    from runtime.settings import Settings
    from streams.operations.proof.report import UserProof

app = typer.Typer()


@app.command()
def prove(
    tenant: Annotated[str | None, typer.Argument(help="Only this tenant. Default: all tenants.", show_default=False)] = None,
    users: Annotated[list[str] | None, typer.Argument(help="The users. Default: a sample.", show_default=False)] = None,
    sample: Annotated[int, typer.Option(min=1, max=10_000, help="Most users of the sample.")] = 20,
    seed: Annotated[str | None, typer.Option(help="Seed of the sample: the same seed gives the same users. Default: a random one.")] = None,
    patience: Annotated[float, typer.Option(min=1, help="Seconds to wait for each stage.")] = 300.0,
    data: DataOption = None,
) -> None:
    """Compute users' memories again from the log, without a model, and compare them with those that are served.

    Nothing is written. Run it with the settings of the workers. The exit code is 1 if a memory differs.
    """
    proofs = run(_prove(attached_settings(data), tenant, users or (), sample=sample, seed=seed or secrets.token_hex(4), patience=patience))
    say_rows(
        ("tenant", "user", "memories", "result", "digest of the log", "digest of what is served"),
        ((each.tenant, each.user, str(each.memories), each.outcome, each.digest[:16], each.served[:16]) for each in proofs),
    )
    for proof in proofs:
        for difference in proof.differences:
            fields = f": {', '.join(difference.fields)}" if difference.fields else ""
            say(f"{proof.tenant}\t{proof.user}\t{difference.kind} {difference.memory_id}\t{difference.problem}{fields}")
    if any(each.outcome == "different" for each in proofs):
        raise typer.Exit(1)


async def _prove(
    settings: "Settings", tenant: str | None, users: Sequence[str], *, sample: int, seed: str, patience: float
) -> "list[UserProof]":
    from stores.build import build_store
    from streams.operations.proof.prove import prove as prove_users
    from streams.operations.proof.prove import sampled_users

    chosen = [(tenant, each) for each in users] if tenant is not None and users else None
    if chosen is None:
        chosen = await sampled_users(settings, sample, seed=seed, tenants=() if tenant is None else [tenant])
        print_notice(f"{counted(len(chosen), 'user')} by seed {seed}")
    store = build_store(settings)
    try:
        return await prove_users(settings, chosen, store=store, patience_s=patience, notice=print_notice)
    finally:
        await store.close()
