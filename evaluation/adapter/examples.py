"""Training examples of the adapter: questions, the memories that answer them, and memories that a search would mistake for these."""

import random
from dataclasses import dataclass
from typing import Final

from evaluation.recall.asking import scored_candidates
from evaluation.recall.corpus import UNANSWERABLE, Corpus
from memory.records.wording import indexed_text
from retrieval.query.first_person import in_first_person

_CANDIDATES: Final = 96
_NEAREST: Final = 20
"""Half of the other memories are drawn from so many that rank best, half from all candidates."""


@dataclass(frozen=True, slots=True)
class Example:
    """One question about one conversation."""

    question: str
    first_person: str
    """The question in the form that :mod:`retrieval.query.first_person` gives it for late interaction."""
    answering: tuple[str, ...]
    """Contents of the events that were extracted from a message of the evidence, at least one."""
    others: tuple[str, ...]
    """Contents of other events of the conversation that the model before took for near, best first."""

    def drawn_others(self, count: int, chance: random.Random) -> list[str]:
        """A random choice of the others, near ones more often; all if there are not more.

        Args:
            count: How many.
            chance: Draws.
        """
        near = chance.sample(self.others[:_NEAREST], min(count // 2, len(self.others[:_NEAREST])))
        rest = [each for each in self.others if each not in near]
        return near + chance.sample(rest, min(count - len(near), len(rest)))


async def examples_of(corpus: Corpus) -> list[Example]:
    """Every question that an event among its candidates answers.

    Args:
        corpus: In a store.
    """
    found = []
    for conversation in corpus.conversations:
        for question in conversation.questions:
            if question.category == UNANSWERABLE:
                continue
            candidates = (
                await scored_candidates(corpus, conversation.user, question.text, prefetch=_CANDIDATES, asked_at=conversation.asked_at)
            ).found
            events = [each.memory for each in candidates if each.memory.kind == "event"]
            right = set(question.evidence)
            answering = tuple(dict.fromkeys(indexed_text(each) for each in events if not right.isdisjoint(each.message_ids)))
            if answering:
                others = tuple(dict.fromkeys(indexed_text(each) for each in events if indexed_text(each) not in answering))
                found.append(Example(question.text, in_first_person(question.text), answering, others))
    return found
