"""Benchmarks of quality and cost: ``python -m evaluation COMMAND --data FILE``; the report is in ``build/reports/COMMAND.json``."""

import argparse
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

import orjson

from memory.errors import VarveError
from varve.cli.options import load_settings

REPORTS: Final = Path("build/reports")


class Command(NamedTuple):
    """A benchmark: a module with ``add_arguments(parser)`` and ``run(arguments)``, which returns the report.

    Of a report with ``markdown`` that is printed, of any other its JSON.
    """

    module: str
    summary: str


COMMANDS: Final[dict[str, Command]] = {
    "segmentation": Command(
        "evaluation.segmentation.command", "Pk and WindowDiff of the offline segmenter, on dialogues with known segments"
    ),
    "fit-segmentation": Command(
        "evaluation.segmentation.fit", "coefficients of the offline segmenter, fitted to dialogues with known segments"
    ),
    "fit-adapter": Command(
        "evaluation.adapter.command", "what is added to the embedded model's weights, fitted to questions about conversations"
    ),
    "fit-projection": Command("evaluation.projection", "the projection of token vectors to fewer dimensions, fitted to free text"),
    "fit-ranking": Command("evaluation.recall.fit", "weights of the ranking models, fitted to LoCoMo, RealMem and invented conversations"),
    "fit-confidence": Command("evaluation.recall.fit_confidence", "weights of a recall's confidence, fitted to LoCoMo's questions"),
    "compare": Command("evaluation.compare.command", "what each memory method finds, stores and costs, on the same conversations"),
    "locomo": Command("evaluation.recall.command", "how much of LoCoMo's evidence a recall finds, by each way of ranking"),
    "situations": Command("evaluation.recall.situations", "whether the right memory is first where facts change or are denied"),
    "longmemeval": Command("evaluation.longmemeval.command", "how well a recall ranks the sessions that hold LongMemEval's answers"),
    "realmem": Command("evaluation.realmem.command", "recalls on RealMem's chats, each query at its time, and coverage of gold memories"),
    "sift": Command("evaluation.sift.command", "the share of gold sessions that the coarse filters of mode=sift keep, by token budget"),
    "qa": Command("evaluation.qa.command", "questions of LoCoMo or LongMemEval, answered from memory by a model and judged by another"),
    "extraction": Command("evaluation.extraction.command", "what a model's extraction of LoCoMo costs, holds and finds, part by part"),
    "facts": Command("evaluation.facts.command", "how much of what an extractor stores is true, on invented sentences"),
    "similarity": Command("evaluation.similarity", "which values of a key become one thing at which Similarity"),
    "tokens": Command("evaluation.tokens.command", "tokens of one-pass extraction against other ways, on LoCoMo"),
    "capacity": Command("evaluation.capacity.command", "machines, bytes and money by rate and users, from the report of make bench-ingest"),
    "storage": Command("evaluation.storage", "stored tokens and bytes against the raw turns"),
}


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m evaluation", description="Benchmarks of quality and cost.")
    subparsers = parser.add_subparsers(dest="command", required=True)
    for name, command in COMMANDS.items():
        subparser = subparsers.add_parser(name, help=command.summary, description=command.summary)
        subparser.add_argument(
            "--data", type=Path, required=True, help="the data set's file; or the folder of RealMem, REALTALK or DialSeg711"
        )
        report = REPORTS / f"{name}.json"
        subparser.add_argument("--report", type=Path, default=report, help="where the report is written as JSON; default: %(default)s")
        if name in sys.argv[1:2]:
            _function(command, "add_arguments")(subparser)
    arguments = parser.parse_args()
    try:
        load_settings()  # A wrong variable is named before any work.
        found = cast(dict[str, Any], _function(COMMANDS[arguments.command], "run")(arguments))
        text = orjson.dumps(found, option=orjson.OPT_INDENT_2).decode()
        # Printed first: where the file cannot be written, an hour's work is not lost.
        print(found.get("markdown", text))
        arguments.report.parent.mkdir(parents=True, exist_ok=True)
        arguments.report.write_text(text + "\n")
    except (VarveError, OSError) as error:
        parser.exit(1, f"{error}\n")


def _function(command: Command, name: str) -> Callable[[Any], Any]:
    """A function of the command's module; imported only when asked for, since each needs other extras."""
    return cast(Callable[[Any], Any], getattr(import_module(command.module), name))


if __name__ == "__main__":
    main()
