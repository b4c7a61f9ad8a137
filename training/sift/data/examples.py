"""Training examples of the proxy model: a user's sessions, queries with their relevant (gold) sessions, and conversations made of them."""

import hashlib
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from random import Random
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from evaluation.sift.histories import SessionQuery
from memory.errors import VarveError
from models.llm.port import ChatMessage
from retrieval.session_ranking.coarse_filter import bm25_scores, within_budget
from retrieval.session_ranking.prompt import prompt_of
from retrieval.session_ranking.sessions import SessionKey, SessionText
from training.runs import Run

TRAIN: Final = "train.jsonl"
TEST: Final = "test.jsonl"
WARM_UP: Final = "warm-up.jsonl"
"""Files of a run folder."""


class SplitError(VarveError):
    """The train and the test set have a user in common."""


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ShownSession(_Record):
    """A session as the prompt shows it."""

    name: str
    lines: tuple[str, ...]
    tokens: int


class Example(_Record):
    """A query."""

    id: str
    user: str
    query: str
    sessions: tuple[str, ...]
    """Names of the sessions in the prompt, oldest first."""
    gold: tuple[int, ...]
    """Positions of the relevant ones among them. Empty: unknown."""
    relevance: tuple[float, ...]
    """BM25 of each session."""
    answer: str = ""
    """Empty: unknown."""
    notes: tuple[str, ...] = ()
    """Texts that a right answer makes use of, if the data set names these instead of an answer."""
    kind: str = ""
    """The data set's name for the kind of question; a judge has rules for some."""
    asked_at: datetime | None = None
    """None: unknown."""


class UserExamples(_Record):
    """A user's sessions and queries."""

    user: str
    source: str
    """The data set, or the tenant."""
    sessions: tuple[ShownSession, ...]
    examples: tuple[Example, ...]

    def prompt(self, example: Example, *, most: int, reasoning: bool) -> tuple[ChatMessage, ...]:
        """The prompt of an example, as a recall sends it.

        Args:
            example: One of these examples.
            most: Number of sessions to rank.
            reasoning: Whether to reason before ranking.
        """
        by_name = {each.name: SessionText(SessionKey(self.user, each.name), each.lines, each.tokens) for each in self.sessions}
        return prompt_of([by_name[name] for name in example.sessions], example.query, most=most, reasoning=reasoning)


class WarmUpExample(_Record):
    """A conversation in the form that chat templates and supervised trainers read."""

    id: str
    prompt: tuple[dict[str, Any], ...]
    """Messages with ``role`` and ``content``."""
    completion: tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True)
class UserSessions:
    """A user's sessions as a prompt shows them, and queries."""

    user: str
    source: str
    """The data set, or the tenant."""
    sessions: tuple[SessionText, ...]
    queries: tuple[SessionQuery, ...]


async def examples_of(history: UserSessions, *, tokens: int) -> UserExamples:
    """The examples of a user. If not all sessions fit, the relevant ones and those with the best BM25 are kept (appendix A).

    Args:
        history: The user's sessions and queries.
        tokens: Most tokens of the sessions of a prompt.
    """
    source, sessions = history.source, history.sessions
    user = f"{source}/{history.user}"
    examples = [await _example(f"{user}/{number}", user, query, sessions, tokens) for number, query in enumerate(history.queries)]
    shown = tuple(ShownSession(name=each.key.session, lines=each.lines, tokens=each.tokens) for each in sessions)
    return UserExamples(user=user, source=source, sessions=shown, examples=tuple(each for each in examples if each is not None))


async def _example(identity: str, user: str, query: SessionQuery, sessions: Sequence[SessionText], tokens: int) -> Example | None:
    """None: no session, or not every relevant session fits."""
    names = set(query.sessions)
    visible = [each for each in sessions if each.key.session in names]
    scores = await bm25_scores(visible, query.text)
    highest = max(scores, default=0.0) + 1
    wanted = [score + highest if each.key.session in query.gold else score for each, score in zip(visible, scores, strict=True)]
    kept = within_budget(visible, wanted, tokens)
    shown = tuple(each.key.session for each in kept)
    if not shown or not query.gold.issubset(shown):
        return None
    by_name = {each.key.session: score for each, score in zip(visible, scores, strict=True)}
    return Example(
        id=identity,
        user=user,
        query=query.text,
        sessions=shown,
        gold=tuple(place for place, name in enumerate(shown) if name in query.gold),
        relevance=tuple(round(by_name[name], 4) for name in shown),
        answer=query.answer,
        notes=query.notes,
        kind=query.kind,
        asked_at=query.asked_at,
    )


Chosen = Sequence[tuple[UserExamples, Example]]
"""Examples, each with its user."""


def drawn_examples(run: Run, name: str, wanted: Callable[[Example], bool], *, seed: int) -> list[tuple[UserExamples, Example]]:
    """The wanted examples of a set in a drawn order, each with its user.

    Args:
        run: The run.
        name: The set's file.
        wanted: Whether an example is wanted.
        seed: Seed of the order.
    """
    found = [(user, example) for user in run.read(name, UserExamples) for example in user.examples if wanted(example)]
    Random(seed).shuffle(found)
    return found


def split_users(users: Collection[str], *, test_share: float, seed: int) -> tuple[frozenset[str], frozenset[str]]:
    """The users of the train and of the test set. A user's set depends on the seed and on the other users, not on their order.

    Args:
        users: All users.
        test_share: Share of the test set, in [0, 1). Of two users or more, at least one is in each set.
        seed: Seed of the split.
    """
    ordered = sorted(users, key=lambda user: hashlib.sha256(f"{seed}/{user}".encode()).hexdigest())
    number = round(len(ordered) * test_share)
    if test_share > 0 and len(ordered) > 1:
        number = min(max(number, 1), len(ordered) - 1)
    return frozenset(ordered[number:]), frozenset(ordered[:number])


def check_disjoint(train: Iterable[UserExamples], test: Iterable[UserExamples]) -> int:
    """Checks that no user is in both sets, and returns how many sessions have the same content in both.

    Data sets such as LongMemEval give the same filler sessions to many users; the number says how much the sets share.

    Raises:
        SplitError: If a user is in both sets.
    """
    users: list[set[str]] = []
    contents: list[set[str]] = []
    for part in (train, test):
        users.append(set())
        contents.append(set())
        for example in part:
            users[-1].add(example.user)
            contents[-1] |= {hashlib.sha256("\n".join(session.lines).encode()).hexdigest() for session in example.sessions}
    both = sorted(users[0] & users[1])
    if both:
        raise SplitError(f"{len(both)} users are in the train and in the test set, for example {both[0]!r}")
    return len(contents[0] & contents[1])
