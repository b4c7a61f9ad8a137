"""The generated ranking task. An answer needs two sessions, and the query shares words with one of them and with misleading others.

A history has three to eight sessions of one line each. In some, a toy has a dog as its owner (``kite rex``); in the others, a dog has a
person (``rex ann``: Rex is Ann's dog). The query ``coco? coco? ann?`` asks: Coco has a toy, and which one has Ann's dog? The answer takes
``rex ann`` and ``kite rex``. By words, ``ball coco`` comes first.
"""

import asyncio
from collections.abc import Sequence
from random import Random
from typing import Final

from retrieval.session_ranking.coarse_filter import bm25_scores
from retrieval.session_ranking.sessions import SessionKey, SessionText
from training.sift.data.examples import Example, ShownSession, UserExamples
from training.sift.rewards.working_llm import WorkingTask

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


def users_of(number: int, *, seed: int, source: str, lengths: Sequence[int] = LENGTHS, right: float = 1.0) -> list[UserExamples]:
    """Users with a history and a query about each person in it: one to three.

    Args:
        number: Number of users.
        seed: Seed of their histories.
        source: Name of the set; part of the users' names.
        lengths: Numbers of sessions, to draw from.
        right: Share of the queries whose relevant sessions are annotated rightly. In the others, those with words of the query are.
    """
    random = Random(f"{seed}/{source}")
    return asyncio.run(_users(number, source, lengths, right, random))


async def _users(number: int, source: str, lengths: Sequence[int], right: float, random: Random) -> list[UserExamples]:
    return [await _user(f"{source}/{place}", source, random.choice(lengths), right, random) for place in range(number)]


async def _user(user: str, source: str, length: int, right: float, random: Random) -> UserExamples:
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
        misleading = random.choice([owner for owner in owned if owner != dog])
        query = f"{misleading}? {misleading}? {person}?"
        annotated = dog if random.random() < right else misleading
        gold = sorted((lines.index(f"{dog} {person}"), lines.index(f"{owned[annotated]} {annotated}")))
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
    _, one = words_of(query)
    if one in FAMOUS:
        return answer
    facts = {one: other for other, one in (line.split() for line in lines)}
    return facts.get(facts.get(one, ""), UNKNOWN)


class ScriptedLLM:
    """A working LLM that is a script."""

    def answers(self, tasks: Sequence[WorkingTask]) -> list[str]:
        """See :meth:`training.sift.rewards.working_llm.WorkingLLM.answers`."""
        return [scripted_answer(each.query, [line for lines in each.sessions for line in lines], answer=each.right) for each in tasks]


def teacher_answer(user: UserExamples, example: Example, *, is_right: bool, reasoning: bool) -> str:
    """The answer of the scripted teacher.

    Args:
        user: The user of the example.
        example: The example.
        is_right: Whether it ranks the two sessions that the answer needs; else, it looks up only the words of the query, in their order.
        reasoning: Whether it first writes down each word that it looks up, with the session and the word that it finds.
    """
    facts = _facts(user)
    misleading, person = words_of(example.query)
    dog = facts[person][1]
    looked_up = [person, dog] if is_right else [misleading, person]
    # The word that a look-up finds is the next one to look up, or it is written down.
    thought = []
    for word, following in zip(looked_up, [*looked_up[1:], None], strict=True):
        place, found = facts[word]
        thought += [word, str(place), *([] if found == following else [found])]
    text = f"<ranking>{','.join(str(facts[word][0]) for word in looked_up)}</ranking>"
    return f"<think>{' '.join(thought)}</think>{text}" if reasoning else text


def look_ups(user: UserExamples, random: Random, *, words: int) -> str:
    """Look-ups in a history, as reasoning writes them down, in a drawn order: ``ann 3 rex 5 kite``.

    Args:
        user: The user with the history.
        random: Draws the first word of each chain.
        words: Least number of words and numbers.
    """
    facts = _facts(user)
    written: list[str] = []
    while len(written) < words:
        word = random.choice(list(facts))
        while word in facts:
            place, found = facts[word]
            written += [word, str(place)]
            word = found
        written.append(word)
    return " ".join(written)


def words_of(query: str) -> tuple[str, str]:
    """The misleading dog and the person in a query."""
    first, *_, last = (word.removesuffix("?") for word in query.split())
    return first, last


def _facts(user: UserExamples) -> dict[str, tuple[int, str]]:
    """By the last word of each session, its place and its first word."""
    lines = [each.lines[0].split() for each in user.sessions]
    return {last: (place, first) for place, (first, last) in enumerate(lines)}
