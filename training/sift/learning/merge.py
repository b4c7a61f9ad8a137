"""``python -m training sift merge``: the mean of an iteration's best checkpoints (MemSifter 3.4, "model averaging"); no model is asked.

Writes ``iteration-N/merged``, the model with which the next iteration begins. The mean is that of the trained parameters, in float32;
with LoRA that of the adapters' matrices, which are then added to the base model.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from training.runs import Run, RunError
from training.sift.learning.optimise import CHECKPOINTS, MERGED, checkpoint_scores
from training.sift.models.proxies import require_torch

SUMMARY: Final = "averages the best checkpoints of an iteration"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the step's own arguments."""
    parser.add_argument("--iteration", type=int, default=1, metavar="N", help="the training iteration; default: %(default)s")
    parser.add_argument("--best", type=int, default=3, metavar="K", help="number of checkpoints; default: %(default)s")


def run(arguments: argparse.Namespace) -> Iterator[str]:
    """Merges. Yields lines for the terminal.

    Raises:
        RunError: If the step ``optimise`` is missing, or the arguments differ from those with which this step began.
    """
    require_torch()
    from training.sift.learning.averaging import write_mean

    folder = Run(arguments.run)
    iteration = f"iteration-{arguments.iteration}"
    best = best_checkpoints(checkpoint_scores(folder, arguments.iteration), arguments.best)
    if not best:
        raise RunError(f"{folder.folder / iteration} has no validated checkpoint: run the step optimise first")
    folder.begin(f"{iteration}/merge", {"checkpoints": best})
    yield "Model calls: 0. Cost: 0."
    target = folder.folder / iteration / MERGED
    if not target.exists():
        write_mean([folder.folder / iteration / CHECKPOINTS / name for name in best], target)
        folder.record(f"{iteration}/merge", checkpoints=best)
    yield f"{target}: the mean of {', '.join(best)}"


def best_checkpoints(scores: dict[str, float], number: int) -> list[str]:
    """The checkpoints with the highest validation score, the best first; of equal ones, the later first."""
    return sorted(scores, key=lambda name: (-scores[name], -int(Path(name).name.rpartition("-")[2])))[:number]
