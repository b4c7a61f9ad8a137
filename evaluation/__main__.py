"""Benchmarks of quality and cost: ``python -m evaluation COMMAND --data FILE``; the report is in ``build/reports/COMMAND.json``."""

import argparse
import sys
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
    """Its docstring is the command's help."""
    summary: str
    data: str
    """Help of ``--data``."""


_LOCOMO: Final = "LoCoMo's file (locomo10.json), or a part of it"
_SEGMENTS: Final = "JSON of TIAGE or SuperDialseg, or DialSeg711's folder of text files"

COMMANDS: Final[dict[str, Command]] = {
    "segmentation": Command(
        "evaluation.segmentation.command", "Pk and WindowDiff of the offline segmenter, on dialogues with known segments", _SEGMENTS
    ),
    "fit-segmentation": Command(
        "evaluation.segmentation.fit", "coefficients of the offline segmenter, fitted to dialogues with known segments", _SEGMENTS
    ),
    "fit-adapter": Command(
        "evaluation.adapter.command",
        "what is added to the embedded model's weights, fitted to questions about conversations",
        "conversations with questions in LoCoMo's form; the shipped adapter's are evaluation/adapter/conversations.json",
    ),
    "fit-projection": Command(
        "evaluation.projection",
        "the projection of token vectors to fewer dimensions, fitted to free text",
        "the folder of WordNet's files, such as /usr/share/wordnet",
    ),
    "fit-ranking": Command(
        "evaluation.recall.fit", "weights of the ranking models, fitted to LoCoMo, RealMem and invented conversations", _LOCOMO
    ),
    "fit-confidence": Command(
        "evaluation.recall.fit_confidence", "weights of a recall's confidence, fitted to LoCoMo's questions", _LOCOMO
    ),
    "compare": Command(
        "evaluation.compare.command",
        "what each memory method finds, stores and costs, on the same conversations",
        "a file of LoCoMo or LongMemEval, or a file or folder of REALTALK or RealMem",
    ),
    "locomo": Command("evaluation.recall.command", "how much of LoCoMo's evidence a recall finds, by each way of ranking", _LOCOMO),
    "situations": Command(
        "evaluation.recall.situations",
        "whether the right memory is first where facts change or are denied",
        "situations as JSON, such as the shipped evaluation/recall/situations.json",
    ),
    "longmemeval": Command(
        "evaluation.longmemeval.command",
        "how well a recall ranks the sessions that hold LongMemEval's answers",
        "LongMemEval's file, such as longmemeval_s.json",
    ),
    "realmem": Command(
        "evaluation.realmem.command",
        "recalls on RealMem's chats, each query at its time, and coverage of gold memories",
        "RealMem's folder of dialogues, or one of its files",
    ),
    "sift": Command(
        "evaluation.sift.command",
        "the share of gold sessions that the coarse filters of mode=sift keep, by token budget",
        "a file of LoCoMo or LongMemEval, or a file or folder of RealMem",
    ),
    "qa": Command(
        "evaluation.qa.command",
        "questions of LoCoMo or LongMemEval, answered from memory by a model and judged by another",
        "a file of LoCoMo or LongMemEval",
    ),
    "extraction": Command(
        "evaluation.extraction.command", "what a model's extraction of LoCoMo costs, holds and finds, part by part", _LOCOMO
    ),
    "facts": Command(
        "evaluation.facts.command",
        "how much of what an extractor stores is true, on invented sentences",
        "items as JSON lines, such as the shipped evaluation/facts/sentences.jsonl and conversations.jsonl",
    ),
    "similarity": Command(
        "evaluation.similarity", "which values of a key become one thing at which Similarity", "a text file with a value a line"
    ),
    "tokens": Command("evaluation.tokens.command", "tokens of one-pass extraction against other ways, on LoCoMo", _LOCOMO),
    "capacity": Command(
        "evaluation.capacity.command",
        "machines, bytes and money by rate and users, from the report of make bench-ingest",
        "the report of `make bench-ingest`, build/reports/ingest.json",
    ),
    "storage": Command("evaluation.storage", "stored tokens and bytes against the raw turns", _LOCOMO),
}


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m evaluation", description="Benchmarks of quality and cost.")
    subparsers = parser.add_subparsers(dest="command", required=True)
    for name, command in COMMANDS.items():
        subparser = subparsers.add_parser(name, help=command.summary, formatter_class=argparse.RawDescriptionHelpFormatter)
        subparser.add_argument("--data", type=Path, required=True, help=command.data)
        report = REPORTS / f"{name}.json"
        subparser.add_argument("--report", type=Path, default=report, help="where the report is written as JSON; default: %(default)s")
        if name in sys.argv[1:2]:
            # Only the chosen module is imported, since each needs other extras.
            module = import_module(command.module)
            subparser.description = (module.__doc__ or "").replace("``", "`")
            module.add_arguments(subparser)
    arguments = parser.parse_args()
    try:
        load_settings()  # A wrong variable is named before any work.
        found = cast(dict[str, Any], import_module(COMMANDS[arguments.command].module).run(arguments))
        text = orjson.dumps(found, option=orjson.OPT_INDENT_2).decode()
        # Printed first: where the file cannot be written, an hour's work is not lost.
        print(found.get("markdown", text))
        arguments.report.parent.mkdir(parents=True, exist_ok=True)
        arguments.report.write_text(text + "\n")
    except (VarveError, OSError) as error:
        parser.exit(1, f"{error}\n")


if __name__ == "__main__":
    main()
