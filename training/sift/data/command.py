"""``python -m training sift data``: examples from data sets, and from recalls with feedback of tenants that agreed; no model is asked.

Writes ``train.jsonl`` and ``test.jsonl``, a user a line. No user is in both: the step checks what it has written. PersonaMem does not name
relevant sessions: its examples have answers only, so they serve the reward and not the warm-up. A tenant's users are read again each time,
without users who were erased since; if a set changes, the step deletes what later steps made from it, except trained models, which
it names.
"""

import argparse
import asyncio
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from evaluation.data_files import format_of
from evaluation.recall.corpus import raw_turns
from evaluation.sift.histories import read_histories
from retrieval.session_ranking.sessions import sessions_of
from runtime.file_digest import files_sha256
from runtime.settings import Settings
from training.runs import Run, RunError
from training.sift.data.examples import TEST, TRAIN, WARM_UP, UserExamples, UserSessions, check_disjoint, examples_of, split_users
from training.sift.data.personamem import is_personamem, read_personamem
from training.sift.data.recalls import read_tenant

_DERIVED: Final = (
    "*-answers.jsonl",
    "evaluation/*.jsonl",
    "evaluate.config.json",
    "iteration-*/rewards.jsonl",
    "iteration-*/rewards/*.jsonl",
    "iteration-*/curriculum.jsonl",
    "iteration-*/[rc]*.config.json",
)
"""Files that later steps made from the sets, without trained models."""
_MODELS: Final = (
    "warm-up/config.json",
    "iteration-*/checkpoints/*/*.safetensors",
    "iteration-*/merged/config.json",
    "serve/model/config.json",
)

SUMMARY: Final = "makes disjoint train and test sets from conversation data sets"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the step's own arguments."""
    parser.add_argument("--data", type=Path, action="append", default=[], metavar="PATH", help="a data set's file or folder; repeatable")
    parser.add_argument("--tenant", action="append", default=[], help="a tenant of VARVE_SIFT__TRAINING_TENANTS; repeatable")
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
    if not arguments.data and not arguments.tenant:
        raise RunError("there is nothing to read: give --data or --tenant")
    folder = Run(arguments.run)
    config = {"seed": arguments.seed, "test_share": arguments.test_share, "history_tokens": arguments.history_tokens}
    folder.begin("data", {**config, "data": {str(path): _digest(path) for path in arguments.data}, "tenants": arguments.tenant})
    yield "Model calls: 0. Cost: 0."
    parts: list[str] = []
    for history, is_fixed in _histories(arguments):
        part = f"users/{hashlib.sha256(f'{history.source}/{history.user}'.encode()).hexdigest()[:24]}.jsonl"
        if part in parts:
            raise RunError(f"the user {history.user!r} of {history.source} occurs twice; give each data set and tenant once")
        parts.append(part)
        if not (is_fixed and folder.has(part)):
            made = asyncio.run(examples_of(history, tokens=arguments.history_tokens))
            folder.write(part, [made])
            left_out = len(history.queries) - len(made.examples)
            folder.record("data", part=part, sessions=len(made.sessions), examples=len(made.examples), left_out=left_out)
        yield f"{history.source}: {history.user}"
    folder.keep_only("users", parts)
    users = [each for part in parts for each in folder.read(part, UserExamples) if each.examples]
    train, test = split_users([each.user for each in users], test_share=arguments.test_share, seed=arguments.seed)
    before = [folder.digest(name) if folder.has(name) else None for name in (TRAIN, TEST)]
    for name, chosen in ((TRAIN, train), (TEST, test)):
        folder.write(name, (each for each in users if each.user in chosen))
    shared = check_disjoint(folder.read(TRAIN, UserExamples), folder.read(TEST, UserExamples))
    if before != [folder.digest(name) for name in (TRAIN, TEST)]:
        # What was made from the earlier sets may hold what a user said who was erased since.
        folder.discard("warm-up", WARM_UP)
        folder.delete(*_DERIVED)
        models = sorted({str(path.parent) for pattern in _MODELS for path in folder.folder.glob(pattern)})
        if models:
            yield f"Trained on the earlier train set; delete them if a user of it was erased: {', '.join(models)}"
    counts = {
        f"{name}_{what}": number
        for name, chosen in (("train", train), ("test", test))
        for what, number in (("users", len(chosen)), ("examples", sum(len(each.examples) for each in users if each.user in chosen)))
    }
    folder.record("data", **counts, shared_sessions=shared)
    yield ", ".join(f"{name.replace('_', ' ')}: {number}" for name, number in counts.items())
    yield f"No user is in both sets. Sessions with the same content in both: {shared}."


def _histories(arguments: argparse.Namespace) -> Iterator[tuple[UserSessions, bool]]:
    """The users, and whether their data is that of a file, which the configuration names."""
    for path in arguments.data:
        source = "personamem" if is_personamem(path) else format_of(path).lower()
        for each in read_personamem(path) if source == "personamem" else read_histories(path):
            yield UserSessions(each.user, source, tuple(sessions_of(raw_turns(each.windows), "turns")), each.queries), True
    for tenant in arguments.tenant:
        for found in asyncio.run(read_tenant(Settings(), tenant)):
            yield found, False


def _digest(path: Path) -> str:
    files = sorted(each for each in path.iterdir() if each.is_file()) if path.is_dir() else [path]
    return files_sha256(files)
