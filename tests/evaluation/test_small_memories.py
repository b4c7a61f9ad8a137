"""The invented small memories, and the questions about them."""

from collections.abc import Sequence

import orjson

from evaluation.recall.small_memories import INVENTED, invented_memories
from memory.records import Memory
from memory.texts.terms import terms_of
from tests.stores.factories import BagOfWordsEmbedder

PARTS = orjson.loads(INVENTED.read_bytes())


def test_the_held_out_part_shares_nothing() -> None:
    for field in ("topic", "name"):
        values = {part: [each[field] for each in persons] for part, persons in PARTS.items()}
        assert len({*values["fit"], *values["held_out"]}) == sum(map(len, values.values()))
    texts = {part: {said["text"] for each in persons for said in each["said"]} for part, persons in PARTS.items()}
    assert texts["fit"].isdisjoint(texts["held_out"])
    assert all(terms_of(text) for text in texts["fit"] | texts["held_out"])


def test_there_are_persons_and_questions_of_every_sort() -> None:
    for persons in PARTS.values():
        assert {each["form"] for each in persons} == {"chat", "notes"}
        assert all(5 <= sum("questions" in said for said in each["said"]) <= 10 and each["absent"] for each in persons)
        named = [each["name"] in question for each in persons for said in each["said"] for question in said.get("questions", ())]
        assert 0.3 < sum(named) / len(named) < 0.7


class Writer:
    """Keeps what it is given."""

    def __init__(self) -> None:
        self.written: dict[str, set[str]] = {}

    async def write(self, memories: Sequence[Memory]) -> None:
        for memory in memories:
            self.written.setdefault(memory.user or "", set()).update(memory.message_ids)


async def test_a_memory_has_the_evidence_it_answers() -> None:
    writer = Writer()
    asked = await invented_memories("held_out", writer, BagOfWordsEmbedder())
    assert {each.kind for each in asked} == {"answered", "left_out", "absent", "of_another_user"}
    for each in asked:
        assert (each.kind == "answered") == bool(each.evidence & writer.written[each.user]), each
    assert {each.user: 0 for each in asked}.keys() == writer.written.keys()
    assert min(len(messages) for messages in writer.written.values()) <= 2
