"""``python -m training sift data``: examples from LoCoMo, LongMemEval, RealMem and PersonaMem; no model is asked.

Writes ``train.jsonl`` and ``test.jsonl``, a user a line. No user is in both: the step checks what it has written. PersonaMem does not name
relevant sessions: its examples have answers only, so they serve the reward and not the warm-up.
"""

import argparse
import asyncio
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from evaluation.sift.histories import UserHistory, format_of, read_histories
from training.runs import Run, RunError
from training.sift.examples import UserExamples, check_disjoint, examples_of, split_users
from training.sift.personamem import is_personamem, read_personamem

SUMMARY: Final = "makes disjoint train and test sets from conversation data sets"
TRAIN: Final = "train.jsonl"
TEST: Final = "test.jsonl"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the step's own arguments."""
    parser.add_argument("--data", type=Path, action="append", required=True, metavar="PATH", help="a data set's file or folder; repeatable")
    parser.add_argument("--seed", type=int, default=7, help="seed of the split; default: %(default)s")
    parser.add_argument("--test-share", type=float, default=0.2, help="share of users in the test set; default: %(default)s")
    parser.add_argument("--history-tokens", type=int, default=24_000, help="most tokens of a prompt's sessions; default: %(default)s")


def run(arguments: argparse.Namespace) -> Iterator[str]:
    """Makes the sets. Yields lines for the terminal.

    Raises:
        RunError: If the arguments differ from those with which the step began, or a user occurs twice.
        SplitError: If a user is in both sets.
        DataSetError: If a data set cannot be read.
    """
    if not 0 <= arguments.test_share < 1:
        raise RunError(f"--test-share must be at least 0 and less than 1, got {arguments.test_share}")
    folder = Run(arguments.run)
    config = {"seed": arguments.seed, "test_share": arguments.test_share, "history_tokens": arguments.history_tokens}
    folder.begin("data", {**config, "data": {str(path): _digest(path) for path in arguments.data}})
    yield "Model calls: 0. Cost: 0."
    parts = []
    for path in arguments.data:
        for source, history in _histories(path):
            part = f"users/{hashlib.sha256(f'{source}/{history.user}'.encode()).hexdigest()[:24]}.jsonl"
            if part in parts:
                raise RunError(f"{path}: the user {history.user!r} occurs twice; give each data set once")
            parts.append(part)
            if not folder.has(part):
                made = asyncio.run(examples_of(history, source=source, tokens=arguments.history_tokens))
                folder.write(part, [made])
                left_out = len(history.queries) - len(made.examples)
                folder.record("data", user=made.user, sessions=len(made.sessions), examples=len(made.examples), left_out=left_out)
            yield f"{source}: {history.user}"
    users = [each for part in parts for each in folder.read(part, UserExamples) if each.examples]
    train, test = split_users([each.user for each in users], test_share=arguments.test_share, seed=arguments.seed)
    for name, chosen in ((TRAIN, train), (TEST, test)):
        folder.write(name, (each for each in users if each.user in chosen))
    shared = check_disjoint(folder.read(TRAIN, UserExamples), folder.read(TEST, UserExamples))
    counts = {
        f"{name}_{what}": number
        for name, chosen in (("train", train), ("test", test))
        for what, number in (("users", len(chosen)), ("examples", sum(len(each.examples) for each in users if each.user in chosen)))
    }
    folder.record("data", **counts, shared_sessions=shared)
    yield ", ".join(f"{name.replace('_', ' ')}: {number}" for name, number in counts.items())
    yield f"No user is in both sets. Sessions with the same content in both: {shared}."


def _histories(path: Path) -> Iterator[tuple[str, UserHistory]]:
    if is_personamem(path):
        yield from (("personamem", each) for each in read_personamem(path))
    else:
        source = format_of(path)
        yield from ((source, each) for each in read_histories(path))


def _digest(path: Path) -> str:
    files = sorted(each for each in path.iterdir() if each.is_file()) if path.is_dir() else [path]
    return hashlib.sha256(b"".join(hashlib.sha256(each.read_bytes()).digest() for each in files)).hexdigest()
