"""The live status as a table."""

from collections.abc import Sequence

from rich.table import Table

from varve.supervisor.stage_status import StageStatus
from varve.supervisor.supervisor import PartState


def stage_table(stages: Sequence[StageStatus], parts: Sequence[PartState]) -> Table:
    """One row for each part and stage, those of the parts that are no stage first.

    Args:
        stages: The stages' status, as far as it could be read.
        parts: The processes, where this command runs them.
    """
    by_name = {stage.name: stage for stage in stages}
    table = Table(box=None, pad_edge=False)
    table.add_column("part")
    if parts:
        table.add_column("state")
    for column in ("lag", "records/s", "dead letters", "retries"):
        table.add_column(column, justify="right")
    if parts:
        table.add_column("memory", justify="right")
        table.add_column("restarts", justify="right")
    else:
        table.add_column("ready", justify="right")
    for part in parts:
        table.add_row(part.name, part.phase, *_figures(by_name.get(part.name)), _megabytes(part.memory_bytes), str(part.restarts))
    if not parts:
        for stage in stages:
            table.add_row(stage.name, *_figures(stage), {True: "yes", False: "no", None: "?"}[stage.ready])
    return table


def _figures(stage: StageStatus | None) -> tuple[str, str, str, str]:
    if stage is None:
        return "", "", "", ""
    return str(stage.lag), _number(stage.rate), _number(stage.dead_letters), _number(stage.retries)


def _number(value: float | None) -> str:
    return "?" if value is None else f"{value:,.1f}" if isinstance(value, float) else str(value)


def _megabytes(value: int | None) -> str:
    return "" if value is None else f"{value / 1e6:,.0f} MB"
