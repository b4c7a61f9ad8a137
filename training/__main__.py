"""The training kit: ``python -m training sift STEP --run FOLDER``. A step that was interrupted continues where it stopped."""

import argparse
import sys
from pathlib import Path
from typing import Final

from memory.errors import VarveError
from training.sift.data import command as data
from training.sift.evaluation import ablate, evaluate
from training.sift.learning import curriculum, merge, optimise, warm_up
from training.sift.models import dequantise, serve
from training.sift.rewards import reward
from training.sift.smoke import command as smoke
from varve.cli.options import load_settings

_STEPS: Final = {
    "data": data,
    "dequantise": dequantise,
    "warm-up": warm_up,
    "reward": reward,
    "curriculum": curriculum,
    "optimise": optimise,
    "merge": merge,
    "evaluate": evaluate,
    "ablate": ablate,
    "serve": serve,
    "smoke": smoke,
}


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m training", description="Trains models that Varve calls during a recall.")
    models = parser.add_subparsers(dest="model", required=True)
    sift = models.add_parser("sift", help="the proxy model of mode=sift", description="The proxy model of mode=sift (MemSifter).")
    steps = sift.add_subparsers(dest="step", required=True)
    for name, module in _STEPS.items():
        description = (module.__doc__ or "").replace("``", "`")
        step = steps.add_parser(name, help=module.SUMMARY, description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
        step.add_argument("--run", type=Path, required=True, metavar="FOLDER", help="the run's folder: configuration, data and metrics")
        module.add_arguments(step)
    arguments = parser.parse_args()
    try:
        load_settings()  # A wrong variable is named before any work.
        for line in _STEPS[arguments.step].run(arguments):
            print(line)
    except (VarveError, OSError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
