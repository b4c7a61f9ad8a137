"""The generated ranking task. An answer needs two sessions, and the query shares words with one of them and with a misleading third one.

A history has three to eight sessions of one line each. In some, a toy has a dog as its owner (``kite rex``); in the others, a dog has a
person (``rex ann``: Rex is Ann's dog). The query ``ball? ball? ann?`` asks what Ann's dog owns, a ball or what else. It takes ``rex ann``
and ``kite rex``. By words, ``ball coco`` comes first.
"""

import asyncio
from collections.abc import Sequence
from random import Random
from typing import Final

from retrieval.session_ranking.coarse_filter import bm25_scores
from retrieval.session_ranking.sessions import SessionKey, SessionText
from training.sift.examples import Example, ShownSession, UserExamples
from training.sift.working_llm import WorkingTask

PEOPLE: Final = ("ann", "bob", "cid", "dan", "eve", "fay")
DOGS: Final = ("ace", "coco", "duke", "hugo", "lola", "rex")
TOYS: Final = ("bell", "cup", "ball", "fan", "harp", "kite")
FAMOUS: Final = frozenset(PEOPLE[:1])
"""The scripted LLM knows what their dogs own without any session, as a real one knows some answers."""
UNKNOWN: Final = "unknown"
"""The answer of the scripted LLM if its sessions do not suffice."""
RANKED: Final = 2
"""Number of sessions to rank."""
LENGTHS: Final = range(3, 9)
"""Numbers of sessions of a history. Small ones are easier: a model learns to look words up in them first."""
SESSIONS: Final = LENGTHS[-1]
_TOKENS: Final = 8
"""Tokens of a session; any number will do, as all sessions fit."""


def users_of(number: int, *, seed: int, source: str, lengths: Sequence[int] = LENGTHS) -> list[UserExamples]:
    """Users with a history and a query about each person in it: one to three.

    Args:
        number: Number of users.
        seed: Seed of their histories.
        source: Name of the set; part of the users' names.
        lengths: Numbers of sessions, to draw from.
    """
    random = Random(f"{seed}/{source}")
    return asyncio.run(_users(number, source, lengths, random))


async def _users(number: int, source: str, lengths: Sequence[int], random: Random) -> list[UserExamples]:
    return [await _user(f"{source}/{place}", source, random.choice(lengths), random) for place in range(number)]


async def _user(user: str, source: str, length: int, random: Random) -> UserExamples:
    people = random.sample(PEOPLE, max(1, length // 2 - 1))
    dogs = random.sample(DOGS, length - len(people))
    owned = dict(zip(dogs, random.sample(TOYS, len(dogs)), strict=True))
    kept = {person: random.choice(dogs) for person in people}
    lines = [f"{other} {one}" for one, other in (owned | kept).items()]
    random.shuffle(lines)
    sessions = tuple(ShownSession(name=str(place), lines=(line,), tokens=_TOKENS) for place, line in enumerate(lines))
    texts = [SessionText(SessionKey(user, each.name), each.lines, each.tokens) for each in sessions]
    examples = []
    for number, (person, dog) in enumerate(kept.items()):
        misleading = random.choice([toy for owner, toy in owned.items() if owner != dog])
        query = f"{misleading}? {misleading}? {person}?"
        gold = sorted((lines.index(f"{dog} {person}"), lines.index(f"{owned[dog]} {dog}")))
        scores = await bm25_scores(texts, query)
        examples.append(
            Example(
                id=f"{user}/{number}",
                user=user,
                query=query,
                sessions=tuple(each.name for each in sessions),
                gold=tuple(gold),
                relevance=tuple(round(each, 4) for each in scores),
                answer=owned[dog],
            )
        )
    return UserExamples(user=user, source=source, sessions=sessions, examples=tuple(examples))


def scripted_answer(query: str, lines: Sequence[str], *, answer: str) -> str:
    """The answer of the scripted working LLM: what the dog owns, if the lines name the dog and the toy.

    Args:
        query: The query.
        lines: The lines of the sessions that it is shown.
        answer: The right answer, which it knows of itself for famous persons.
    """
    one = person_of(query)
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
        is_right: Whether it ranks the two sessions that the answer needs; else, it stops at the first and adds the most recent one.
        reasoning: Whether it first writes down each word that it looks up, with the session that it finds, and the answer.
    """
    lines = [user.sessions[place].lines[0].split() for place in range(len(example.sessions))]
    place_of = {one: place for place, (_, one) in enumerate(lines)}
    person = person_of(example.query)
    dog = lines[place_of[person]][0]
    if is_right:
        ranked = [place_of[person], place_of[dog]]
        thought = f"{person} {ranked[0]} {dog} {ranked[1]} {example.answer}"
    else:
        recent = max(place for place in range(len(lines)) if place != place_of[person])
        ranked = [place_of[person], recent]
        thought = f"{person} {ranked[0]}"
    text = f"<ranking>{','.join(map(str, ranked))}</ranking>"
    return f"<think>{thought}</think>{text}" if reasoning else text


def person_of(query: str) -> str:
    """The person in a query."""
    return query.split()[-1].removesuffix("?")
