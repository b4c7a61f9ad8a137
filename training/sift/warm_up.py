"""``python -m training sift warm-up``: supervised examples for format and relevance (MemSifter 3.4, cold start); no model is asked.

Writes ``warm-up.jsonl`` from the train set: the prompt as a recall sends it, and an answer. The answer ranks the relevant sessions first,
then the others, both by BM25. Its reasoning names the relevant sessions. Each answer is parsed as a recall would parse it.
"""

import argparse
from collections.abc import Iterator
from random import Random
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from retrieval.session_ranking.ranking import number_ranked, parse_ranking
from training.runs import Run
from training.sift.examples import TRAIN, WARM_UP, Example, UserExamples

SUMMARY: Final = "makes supervised examples of rankings from the relevant sessions of the train set"


class WarmUpExample(BaseModel):
    """A conversation in the form that chat templates and supervised trainers read."""

    model_config = ConfigDict(frozen=True)

    id: str
    prompt: tuple[dict[str, Any], ...]
    """Messages with ``role`` and ``content``."""
    completion: tuple[dict[str, Any], ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the step's own arguments."""
    parser.add_argument("--examples", type=int, default=None, metavar="N", help="only N examples, drawn by the seed; default: all")
    parser.add_argument("--seed", type=int, default=7, help="seed of the order; default: %(default)s")
    parser.add_argument(
        "--sessions", type=int, default=10, choices=range(1, 16), metavar="K", help="sessions to rank; default: %(default)s"
    )
    parser.add_argument("--direct", action="store_true", help="rank without reasoning, the paper's ablation")


def run(arguments: argparse.Namespace) -> Iterator[str]:
    """Makes the examples. Yields lines for the terminal.

    Raises:
        RunError: If the step ``data`` is missing, or the arguments differ from those with which this step began.
    """
    folder = Run(arguments.run)
    config = {name: getattr(arguments, name) for name in ("examples", "seed", "sessions", "direct")}
    folder.begin("warm-up", {**config, "train": folder.digest(TRAIN)})
    yield "Model calls: 0. Cost: 0."
    if not folder.has(WARM_UP):
        made = [
            _warm_up_example(user, example, most=arguments.sessions, reasoning=not arguments.direct)
            for user in folder.read(TRAIN, UserExamples)
            for example in user.examples
            if example.gold
        ]
        Random(arguments.seed).shuffle(made)
        number = folder.write(WARM_UP, made[: arguments.examples])
        folder.record("warm-up", examples=number)
    yield f"{folder.folder / WARM_UP}: {sum(1 for _ in folder.read(WARM_UP, WarmUpExample))} examples"


def answer_of(example: Example, *, most: int, reasoning: bool) -> str:
    """The answer: relevant sessions first, then the others, both by BM25.

    Args:
        example: An example with relevant sessions.
        most: Number of sessions to rank.
        reasoning: Whether it has reasoning.
    """
    count, gold = len(example.sessions), set(example.gold)
    ordered = sorted(range(count), key=lambda place: (place not in gold, -example.relevance[place], place))
    ranked = ordered[: number_ranked(count, most)]
    named = ", ".join(str(place) for place in ranked if place in gold)
    one = len(gold.intersection(ranked)) == 1
    thought = f"Session{'' if one else 's'} {named} {'has' if one else 'have'} what the query needs. The others share less with it."
    text = f"<ranking>{','.join(map(str, ranked))}</ranking>"
    return f"<think>{thought}</think>{text}" if reasoning else text


def _warm_up_example(user: UserExamples, example: Example, *, most: int, reasoning: bool) -> WarmUpExample:
    answer = answer_of(example, most=most, reasoning=reasoning)
    parse_ranking(answer, sessions=len(example.sessions), most=most, reasoning=reasoning)
    prompt = user.prompt(example, most=most, reasoning=reasoning)
    return WarmUpExample(
        id=example.id,
        prompt=tuple({"role": each.role, "content": each.content} for each in prompt),
        completion=({"role": "assistant", "content": answer},),
    )
