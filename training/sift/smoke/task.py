"""The generated ranking task. An answer needs two sessions, and the query shares words with one of them and with a misleading third one.

A history has eight sessions of one line each. In five, a thing has an owner (``kite bob``); in three, a friend has a person (``bob ann``:
Bob is Ann's friend). The query ``pen? ann? pen?`` asks what Ann's friend owns, a pen or what else. It takes ``bob ann`` and ``kite bob``.
By words, ``pen gus`` comes first.
"""

import asyncio
from collections.abc import Sequence
from random import Random
from typing import Final

from retrieval.session_ranking.coarse_filter import bm25_scores
from retrieval.session_ranking.sessions import SessionKey, SessionText
from training.sift.examples import Example, ShownSession, UserExamples
from training.sift.working_llm import WorkingTask

_WORDS: Final = (
    "ann bob cid dan eve fay gus hal ida jim kay leo",
    "axe bell cup drum egg fan gem harp ink jar kite pen",
)
NAMES: Final = tuple(_WORDS[0].split())
THINGS: Final = tuple(_WORDS[1].split())
FAMOUS: Final = frozenset(NAMES[:2])
"""The scripted LLM knows what they own without any session, as a real one knows some answers."""
UNKNOWN: Final = "unknown"
"""The answer of the scripted LLM if its sessions do not suffice."""
RANKED: Final = 3
"""Number of sessions to rank."""
_OWNERS: Final = 5
_FRIENDSHIPS: Final = 3
SESSIONS: Final = _OWNERS + _FRIENDSHIPS
_TOKENS: Final = 8
"""Tokens of a session; any number will do, as all sessions fit."""


def users_of(number: int, *, seed: int, source: str) -> list[UserExamples]:
    """Users with a history and three queries each.

    Args:
        number: Number of users.
        seed: Seed of their histories.
        source: Name of the set; part of the users' names.
    """
    random = Random(f"{seed}/{source}")
    return asyncio.run(_users(number, source, random))


async def _users(number: int, source: str, random: Random) -> list[UserExamples]:
    return [await _user(f"{source}/{place}", source, random) for place in range(number)]


async def _user(user: str, source: str, random: Random) -> UserExamples:
    people = random.sample(NAMES, _OWNERS + _FRIENDSHIPS)
    owners, others = people[:_OWNERS], people[_OWNERS:]
    owned = dict(zip(owners, random.sample(THINGS, _OWNERS), strict=True))
    friends = {one: random.choice(owners) for one in others}
    lines = [f"{other} {one}" for one, other in (owned | friends).items()]
    random.shuffle(lines)
    sessions = tuple(ShownSession(name=str(place), lines=(line,), tokens=_TOKENS) for place, line in enumerate(lines))
    texts = [SessionText(SessionKey(user, each.name), each.lines, each.tokens) for each in sessions]
    examples = []
    for number, (one, friend) in enumerate(friends.items()):
        misleading = random.choice([thing for owner, thing in owned.items() if owner != friend])
        query = f"{misleading}? {one}? {misleading}?"
        gold = sorted((lines.index(f"{friend} {one}"), lines.index(f"{owned[friend]} {friend}")))
        scores = await bm25_scores(texts, query)
        examples.append(
            Example(
                id=f"{user}/{number}",
                user=user,
                query=query,
                sessions=tuple(each.name for each in sessions),
                gold=tuple(gold),
                relevance=tuple(round(each, 4) for each in scores),
                answer=owned[friend],
            )
        )
    return UserExamples(user=user, source=source, sessions=sessions, examples=tuple(examples))


def scripted_answer(query: str, lines: Sequence[str], *, answer: str) -> str:
    """The answer of the scripted working LLM: what the friend owns, if the lines name the friend and the thing.

    Args:
        query: The query.
        lines: The lines of the sessions that it is shown.
        answer: The right answer, which it knows of itself for famous persons.
    """
    one = query.split()[1].removesuffix("?")
    if one in FAMOUS:
        return answer
    facts = {one: other for other, one in (line.split() for line in lines)}
    return facts.get(facts.get(one, ""), UNKNOWN)


class ScriptedLLM:
    """A working LLM that is a script."""

    def answers(self, tasks: Sequence[WorkingTask]) -> list[str]:
        """See :meth:`training.sift.working_llm.WorkingLLM.answers`."""
        return [scripted_answer(each.query, [line for lines in each.sessions for line in lines], answer=each.right) for each in tasks]


def teacher_answer(user: UserExamples, example: Example, *, is_right: bool, reasoning: bool) -> str:
    """The answer of the scripted teacher.

    Args:
        user: The user of the example.
        example: The example.
        is_right: Whether it ranks the two sessions that the answer needs first; else, the best two by BM25.
        reasoning: Whether it quotes these two before it ranks.
    """
    lines = [user.sessions[place].lines[0].split() for place in range(len(example.sessions))]
    misleading, one, _ = example.query.replace("?", "").split()
    friendship = next(place for place, line in enumerate(lines) if line[1] == one)
    friend = lines[friendship][0]
    if is_right:
        first = [friendship, next(place for place, line in enumerate(lines) if line[1] == friend)]
        thought = f"{one} {friend} {first[0]} {friend} {example.answer} {first[1]}"
    else:
        first = sorted(range(len(lines)), key=lambda place: (-example.relevance[place], place))[:2]
        thought = f"{misleading} {first[0]} {one} {friend} {first[1]}"
    ranked = [*first, *(place for place in range(len(lines)) if place not in first)][:RANKED]
    text = f"<ranking>{','.join(map(str, ranked))}</ranking>"
    return f"<think>{thought}</think>{text}" if reasoning else text
