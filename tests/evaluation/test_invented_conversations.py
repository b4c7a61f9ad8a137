"""Invented conversations: reading them, and fitting the ranking to several kinds."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evaluation.errors import DataSetError
from evaluation.recall.fit import Models, fit
from evaluation.recall.fit_examples import Example
from evaluation.recall.invented_conversations import KINDS, invented_memory
from tests.evaluation.ranking_examples import example

TWO = """== chat ann-bo
-- 2025-02-03 18:02
Ann: I sold the boat {boat}
Bo: [photo: a boat]
? What was sold? | boat
== chat cy-di
-- 2025-02-01 09:00
assistant: line one\\nline two {lines}
? Which lines? | lines
"""


@pytest.mark.parametrize("kind", KINDS)
def test_every_question_names_messages_of_its_kind(kind: str) -> None:
    memory = invented_memory(kind)
    messages = {message.id for window in memory.windows for message in window.messages}
    assert len(memory.questions) > 30
    assert all(each.messages and each.messages <= messages for each in memory.questions)


def test_a_file_is_read_in_the_order_of_time(tmp_path: Path) -> None:
    (tmp_path / "chat.txt").write_text(TWO)
    memory = invented_memory("chat", tmp_path)
    said = [(each.id, each.role, each.speaker, each.text) for window in memory.windows for each in window.messages]
    assert said == [
        ("cy-di/s1/0", "assistant", None, "line one\nline two"),
        ("ann-bo/s1/0", "user", "Ann", "I sold the boat"),
        ("ann-bo/s1/1", "user", "Bo", "[picture: a boat]"),
    ]
    assert [(each.text, *each.messages) for each in memory.questions] == [
        ("What was sold?", "ann-bo/s1/0"),
        ("Which lines?", "cy-di/s1/0"),
    ]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("? Which lines? | lines", "? Which lines? | line", "no message has the label 'line'"),
        ("-- 2025-02-03 18:02", "-- soon", "line 2: '-- soon'"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, old: str, new: str, said: str) -> None:
    (tmp_path / "chat.txt").write_text(TWO.replace(old, new))
    with pytest.raises(DataSetError, match=said):
        invented_memory("chat", tmp_path)


def of_kind(kind: str, feature: str, *, number: int, is_turn: bool = False) -> list[Example]:
    random = np.random.default_rng(number)
    made = [example(random, telling=feature) for _ in range(number)]
    return [replace(each, conversation=kind, kind=kind, is_turn=is_turn) for each in made]


def test_a_small_kind_counts_more_than_its_number() -> None:
    large, small = of_kind("locomo", "late", number=160), of_kind("chat", "nearby", number=10)
    models = fit(large + small, ridge=10)
    alike = fit(large + [replace(each, kind="locomo") for each in small], ridge=10)
    assert models.questions.weights["nearby"] > 1.3 * alike.questions.weights["nearby"] > 0


def test_turns_have_their_own_model() -> None:
    questions, turns = of_kind("locomo", "late", number=40), of_kind("realmem", "opening", number=40, is_turn=True)
    models = fit(questions + turns, ridge=1)
    assert models.questions.weights["opening"] == 0 < models.turns.weights["opening"]
    assert (models.of(questions[0]), models.of(turns[0])) == (models.questions, models.turns)
    assert fit(questions, ridge=1) == Models(models.questions, models.questions)
