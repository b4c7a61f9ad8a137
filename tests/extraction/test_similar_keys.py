"""Values of a key that mean the same get one name, in events and patches, whatever words an extractor finds."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from extraction.similar_keys import names_of, stated_values, with_names
from memory.keys import entity_key
from models.embedding.port import Embedder, Vector
from tests.extraction.topic_stories import SIMILARITY, extraction_of, stories

TOPICS = stories("user", "topic")


def test_events_and_patches_state_values_in_their_order() -> None:
    events: list[dict[str, Any]] = [{"topic": "the  shop"}, {"place": "Oslo"}, {"topic": 7}, {"topic": "the shop"}, {"topic": " "}]
    keys = [entity_key("ann", "a studio"), entity_key("one part"), "%"]
    patches = [("place", entity_key("Oslo")), *(("story", key) for key in keys), ("unknown", keys[0])]
    assert stated_values(extraction_of(events, patches), TOPICS) == {"topic": ("the shop", "a studio")}
    assert stated_values(extraction_of([{"place": "Oslo"}]), TOPICS) == {}


def test_names_replace_only_the_stated_values() -> None:
    made = extraction_of(
        [{"topic": "the  shop", "place": "the shop"}, {"topic": "a studio"}, {"place": "Oslo"}],
        [("story", entity_key("ann", "the shop")), ("place", entity_key("the shop")), ("story", "%")],
    )
    named = with_names(made, TOPICS, {"topic": {"the shop": "clothing store", "a studio": "a studio"}})
    assert [each.properties for each in named.events] == [
        {"topic": "clothing store", "place": "the shop"},
        {"topic": "a studio"},
        {"place": "Oslo"},
    ]
    assert [each.entity_key for each in named.patches] == [entity_key("ann", "clothing store"), entity_key("the shop"), "%"]
    assert named.model_copy(update={"events": made.events, "patches": made.patches}) == made


async def named(embedder: Embedder, values: list[str], present: list[str]) -> dict[str, str]:
    texts = [*values, *present]
    vectors = {text: each.dense for text, each in zip(texts, await embedder.embed_documents(texts), strict=True)}
    return names_of(values, present, vectors=vectors, similarity=SIMILARITY)


async def test_new_words_for_a_thing_find_it(embedder: Embedder) -> None:
    values = ["online clothing store", "fashion store", "Clothing Store", "pottery workshop", "pottery class", "job loss"]
    assert await named(embedder, values, ["dance studio", "clothing store"]) == {
        "online clothing store": "clothing store",
        "fashion store": "clothing store",
        "Clothing Store": "clothing store",
        "pottery workshop": "pottery workshop",
        "pottery class": "pottery workshop",
        "job loss": "job loss",
    }


@pytest.mark.parametrize(
    "values", [["release 2.4", "release 2.3", "release two"], ["the plan", "plan A", "plan B"], ["Q3 budget", "Q4 budget"]]
)
async def test_another_number_or_letter_is_another_name(embedder: Embedder, values: list[str]) -> None:
    assert await named(embedder, values, []) == {value: value for value in values}


async def test_an_article_and_a_numbers_form_change_nothing(embedder: Embedder) -> None:
    assert await named(embedder, ["a clothing store", "release 2"], ["clothing store", "release two"]) == {
        "a clothing store": "clothing store",
        "release 2": "release two",
    }


def test_a_vowel_sign_is_part_of_its_letter() -> None:
    values, vector = ("नई साइकिल", "साइकिल"), np.array([1.0, 0.0], dtype=np.float32)
    assert names_of(values[:1], values[1:], vectors=dict.fromkeys(values, vector), similarity=0.9) == {"नई साइकिल": "साइकिल"}


def test_a_value_without_a_vector_names_itself() -> None:
    vectors = {"shop": np.array([1.0, 0.0], dtype=np.float32)}
    assert names_of(["store", "SHOP"], ["shop"], vectors=vectors, similarity=0.1) == {"store": "store", "SHOP": "shop"}


WORDS = ("oak", "ash", "elm", "fir", "yew", "bay", "fig", "box")


@st.composite
def spaces(draw: st.DrawFn) -> dict[str, Vector]:
    """A unit vector of three dimensions for each word; some are equal."""
    of_axes = st.tuples(*(st.integers(-2, 2) for _ in range(3))).filter(any)
    drawn = {word: np.array(draw(of_axes), dtype=np.float32) for word in WORDS}
    return {word: vector / np.linalg.norm(vector) for word, vector in drawn.items()}


@given(
    vectors=spaces(),
    values=st.lists(st.sampled_from(WORDS), unique=True),
    present=st.lists(st.sampled_from(WORDS), unique=True),
    similarity=st.sampled_from([0.3, 0.6, 0.9, 1.0]),
)
def test_chosen_names_are_final(vectors: dict[str, Vector], values: list[str], present: list[str], similarity: float) -> None:
    names = names_of(values, present, vectors=vectors, similarity=similarity)
    assert list(names) == values
    founded = [name for value, name in names.items() if value == name and value not in present]
    assert set(names.values()) <= {*present, *founded}
    for value, name in names.items():
        cosines = {each: float(vectors[each] @ vectors[value]) for each in [*present, *founded]}
        assert name == value or cosines[name] >= similarity
        assert value not in present or name == value
        if value in founded:
            before = [*present, *founded[: founded.index(value)]]
            assert all(cosines[each] < similarity for each in before), "a new thing is near to none that was there"
    again = [*present, *founded]
    assert names_of(again, again, vectors=vectors, similarity=similarity) == {each: each for each in again}
    shuffled = names_of(values, present[::-1], vectors=vectors, similarity=similarity)
    assert shuffled == names, "the order in which the store names things does not matter"
