"""``varve accept-loss``: let partitions continue after records that the log has lost."""

from typing import TYPE_CHECKING, Annotated

import typer

from runtime.interruption import run
from varve.cli.options import ByOption, DataOption, StageArgument, actor, attached_settings
from varve.output import say

if TYPE_CHECKING:
    from runtime.settings import Settings
    from streams.engine.failures.data_loss import DataLoss

app = typer.Typer()


@app.command("accept-loss")
def accept_loss(
    stage: StageArgument,
    at: Annotated[str | None, typer.Argument(metavar="TOPIC/PARTITION", help="The stopped partition. Default: show all of them.")] = None,
    first: Annotated[int | None, typer.Option("--from", min=0, help="First lost offset.")] = None,
    next_offset: Annotated[int | None, typer.Option("--to", min=1, help="Offset after the last lost one.")] = None,
    accept_all: Annotated[bool, typer.Option("--all", help="Accept the losses of all partitions of the stage.")] = False,
    generation: Annotated[str, typer.Option(help="For `extraction`: the group of this generation instead of the live one.")] = "",
    by: ByOption = None,
    data: DataOption = None,
) -> None:
    """Show the range of records that a partition has lost. With --from and --to set to exactly that range, record the loss and resume.

    With --all instead of a partition, accept the losses of all partitions; each is printed and recorded.
    """
    from streams.operations.accept_loss import LostRange, find_loss, find_losses
    from streams.operations.accept_loss import accept_loss as accept

    if accept_all and not (at is None and first is None and next_offset is None):
        raise typer.BadParameter("--all accepts every partition's loss: give no partition, --from or --to with it")
    settings = attached_settings(data)
    if accept_all:
        _accept_all(settings, stage, generation=generation, by=actor(by))
        return
    if at is None:
        _show(stage, run(find_losses(settings, stage, generation=generation)), where=stage)
        return
    partition = _partition_of(at, stage, settings.kafka.topic_prefix)
    if first is None or next_offset is None:
        loss = run(find_loss(settings, stage, partition, generation=generation))
        _show(stage, [] if loss is None else [loss], where=at)
        return
    loss = run(accept(settings, stage, partition, LostRange(first=first, next=next_offset), accepted_by=actor(by), generation=generation))
    say(f"accepted: {loss}. {stage} continues")


def _accept_all(settings: "Settings", stage: str, *, generation: str, by: str) -> None:
    from streams.operations.accept_loss import LostRange, find_losses
    from streams.operations.accept_loss import accept_loss as accept

    losses = run(find_losses(settings, stage, generation=generation))
    if not losses:
        say(f"{stage} has lost nothing")
    for loss in losses:
        lost = LostRange(first=loss.first, next=loss.next)
        accepted = run(accept(settings, stage, loss.source.partition, lost, accepted_by=by, generation=generation))
        say(f"accepted: {accepted}. {stage} continues")


def _show(stage: str, losses: "list[DataLoss]", *, where: str) -> None:
    if not losses:
        say(f"{stage} has lost nothing of {where}" if where != stage else f"{stage} has lost nothing")
        return
    for loss in losses:
        at = f"{loss.source.topic}/{loss.source.partition}"
        say(f"{loss}\nto continue without them: varve accept-loss {stage} {at} --from {loss.first} --to {loss.next}")
    raise typer.Exit(1)


def _partition_of(at: str, stage: str, prefix: str) -> int:
    from streams.stages.catalog import STAGES

    topic, _, number = at.rpartition("/")
    source = STAGES[stage].source.name if stage in STAGES else topic
    if topic not in (source, f"{prefix}{source}") or not number.isdecimal():
        raise typer.BadParameter(f"{at!r} is not a partition that {stage} reads; write {prefix}{source}/0")
    return int(number)
