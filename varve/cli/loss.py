"""``varve accept-loss``: go on behind records that the log has lost."""

from typing import Annotated

import typer

from runtime.interruption import run
from varve.cli.options import ByOption, DataOption, StageArgument, actor, attached_settings

app = typer.Typer()


@app.command("accept-loss")
def accept_loss(
    stage: StageArgument,
    at: Annotated[str, typer.Argument(metavar="TOPIC/PARTITION", help="The partition that has stopped.")],
    first: Annotated[int | None, typer.Option("--from", min=0, help="First lost offset.")] = None,
    behind: Annotated[int | None, typer.Option("--to", min=1, help="Offset after the last lost one.")] = None,
    generation: Annotated[str, typer.Option(help="For `extraction`: the group of this generation instead of the live one.")] = "",
    by: ByOption = None,
    data: DataOption = None,
) -> None:
    """Show the range of records that a partition has lost. With --from and --to set to exactly that range, record the loss and resume."""
    from streams.operations.accept_loss import LostRange, find_loss
    from streams.operations.accept_loss import accept_loss as accept

    settings = attached_settings(data)
    partition = _partition_of(at, stage, settings.kafka.topic_prefix)
    if first is None or behind is None:
        gap = run(find_loss(settings, stage, partition, generation=generation))
        if gap is None:
            typer.echo(f"{stage} has lost nothing of {at}")
            return
        typer.echo(f"{gap}\nto go on without them: varve accept-loss {stage} {at} --from {gap.first} --to {gap.next}")
        raise typer.Exit(1)
    lost = LostRange(first=first, next=behind)
    gap = run(accept(settings, stage, partition, lost, accepted_by=actor(by), generation=generation))
    typer.echo(f"accepted: {gap}. {stage} goes on")


def _partition_of(at: str, stage: str, prefix: str) -> int:
    from streams.stages.catalog import STAGES

    topic, _, number = at.rpartition("/")
    source = STAGES[stage].source.name if stage in STAGES else topic
    if topic not in (source, f"{prefix}{source}") or not number.isdigit():
        raise typer.BadParameter(f"{at!r} is no partition of what {stage} reads; write {prefix}{source}/0")
    return int(number)
