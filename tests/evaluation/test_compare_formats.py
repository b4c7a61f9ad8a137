"""The data sets of ``compare``: REALTALK's form, recognition of all forms, errors that name the field, and variants of LongMemEval."""

from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.compare.conversations import first_sessions
from evaluation.compare.formats.detection import digest_of, read_data
from evaluation.compare.formats.longmemeval import dialogues_of, read_questions
from evaluation.compare.variants import PLACES, moved, scaled
from evaluation.data_files import format_of
from evaluation.errors import DataSetError
from evaluation.longmemeval.dataset import Question, read_longmemeval
from tests.evaluation.conversations import conversation
from tests.evaluation.longmemeval_files import entry
from tests.evaluation.realmem_files import dialogues, written


def chat() -> dict[str, Any]:
    """A made-up chat in REALTALK's form."""
    return {
        "name": {"speaker_1": "Ann", "speaker_2": "Ben"},
        "session_2": [{"dia_id": "D2:1", "speaker": "Ben", "date_time": "02.01.2024, 09:30:00", "clean_text": "How is Minka?"}],
        "session_2_date_time": "02.01.2024, 09:30:00",
        "session_1": [
            {"dia_id": "D1:1", "speaker": "Ann", "date_time": "29.12.2023, 22:42:04", "clean_text": "I adopted a cat called Minka."},
            {"dia_id": "D1:2", "speaker": "Ben", "date_time": "29.12.2023, 22:43:00", "clean_text": "", "blip_caption": "a grey cat"},
            {"dia_id": "D1:3", "speaker": "Ben", "date_time": "29.12.2023, 22:43:05", "clean_text": " "},
        ],
        "session_1_date_time": "29.12.2023, 22:42:04",
        "events_session_1": {"agent_a": [], "agent_b": []},
        "qa": [
            {"question": "What is the name of Ann's cat?", "answer": "Minka", "evidence": ["D1:1"], "category": 1},
            {"question": "When did Ann adopt a cat?", "answer": 2023, "evidence": ["D1:1", "D9:9"], "category": 2},
            {"question": "Is it big?", "answer": "no", "evidence": ["D9:9"], "category": 3},
        ],
    }


def saved(folder: Path, content: Any, name: str = "Chat_1_Ann_Ben.json") -> Path:
    path = folder / name
    path.write_bytes(orjson.dumps(content))
    return path


def test_realtalk_is_read_with_dates_and_pictures(tmp_path: Path) -> None:
    path = saved(tmp_path, chat())
    assert format_of(path) == format_of(tmp_path) == "REALTALK"
    (dialogue,) = read_data(tmp_path).dialogues
    said = [message for step in dialogue.steps for window in step.windows for message in window.messages]
    assert [(each.id, each.session, each.role, each.text) for each in said] == [
        ("D1:1", "session_1", "user", "I adopted a cat called Minka."),
        ("D1:2", "session_1", "assistant", "[picture: a grey cat]"),
        ("D2:1", "session_2", "assistant", "How is Minka?"),
    ]
    assert f"{said[0].event_time:%Y-%m-%d %H:%M:%S}" == "2023-12-29 22:42:04"
    first, second = dialogue.steps[-1].questions
    assert (first.category, first.answer, first.has_several_answers) == ("multi-hop", "Minka", True)
    assert (second.category, second.answer, second.evidence) == ("temporal", "2023", ("D1:1",))


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": {"speaker_1": "Ann"}}, "name.speaker_2"),
        ({"qa": [{"question": "Who?", "answer": "Ann", "category": 1}]}, "qa.0.evidence"),
        ({"session_1": [{"dia_id": "D1:1", "speaker": "Ann", "date_time": "yesterday"}]}, "session_1.0.date_time"),
        ({"session_1": [{"speaker": "Ann", "date_time": "29.12.2023, 22:42:04"}]}, "session_1.0.dia_id"),
        ({"session_1": "nothing"}, "session_1"),
        ({"session_1": [], "session_2": []}, "no field session_1 with messages"),
    ],
)
def test_a_wrong_chat_names_the_field(tmp_path: Path, change: dict[str, Any], field: str) -> None:
    with pytest.raises(DataSetError, match="REALTALK") as refused:
        read_data(saved(tmp_path, {**chat(), **change}))
    assert field in str(refused.value)


def test_first_sessions_have_the_questions_that_they_answer(tmp_path: Path) -> None:
    content = chat()
    content["qa"].append({"question": "What does Ben ask?", "answer": "How Minka is", "evidence": ["D1:1", "D2:1"], "category": 1})
    (dialogue,) = read_data(saved(tmp_path, content)).dialogues
    assert [each.text for step in first_sessions(dialogue, 2).steps for each in step.questions][-1] == "What does Ben ask?"
    first = first_sessions(dialogue, 1)
    assert [message.id for step in first.steps for window in step.windows for message in window.messages] == ["D1:1", "D1:2"]
    questions = [each for step in first.steps for each in step.questions]
    assert [each.text for each in questions] == ["What is the name of Ann's cat?", "When did Ann adopt a cat?"]
    assert {f"{each.asked_at:%Y-%m-%d}" for each in questions} == {"2023-12-29"}, "asked after the last message that remains"


def test_each_form_is_recognised(tmp_path: Path) -> None:
    folder = tmp_path / "realmem"
    folder.mkdir()
    user = written(folder, dialogues())
    assert format_of(saved(tmp_path, [conversation("one")], "locomo.json")) == "LoCoMo"
    assert format_of(saved(tmp_path, [entry("q1")], "longmemeval.json")) == "LongMemEval"
    assert format_of(folder) == format_of(user) == "RealMem"
    assert digest_of(folder) != digest_of(tmp_path / "locomo.json")


def test_remarks_of_open_answers_are_dropped(tmp_path: Path) -> None:
    sample = conversation("one")
    sample["qa"] = [
        {"question": "Would Ann like a dog?", "answer": "Yes; she loves animals", "category": 3, "evidence": ["D1:1"]},
        {"question": "Which pets?", "answer": "a cat; a dog", "category": 1, "evidence": ["D1:1"]},
    ]
    (dialogue,) = read_data(saved(tmp_path, [sample], "locomo.json")).dialogues
    found = [(each.answer, each.has_several_answers, each.is_dated) for each in dialogue.steps[-1].questions]
    assert found == [("Yes", False, False), ("a cat; a dog", True, False)]


@pytest.mark.parametrize(
    ("content", "named"),
    [([{"text": "hello"}], "its first entry has text"), ([], "no fields"), (7, "no fields"), ({"name": {}}, "has name")],
)
def test_an_unknown_form_lists_its_fields(tmp_path: Path, content: Any, named: str) -> None:
    with pytest.raises(DataSetError, match=named):
        read_data(saved(tmp_path, content, "other.json"))


def test_wrong_files_of_other_forms_name_the_field(tmp_path: Path) -> None:
    broken = entry("q1")
    del broken["haystack_dates"]
    with pytest.raises(DataSetError, match="haystack_dates"):
        read_data(saved(tmp_path, [broken], "longmemeval.json"))
    sample = conversation("one")
    sample["qa"][1]["evidence"] = "D1:1"
    with pytest.raises(DataSetError, match=r"0\.qa\.1\.evidence"):
        read_data(saved(tmp_path, [sample], "locomo.json"))
    with pytest.raises(DataSetError, match="not JSON"):
        read_data(_text(tmp_path, "{"))
    with pytest.raises(DataSetError, match="cannot be read"):
        read_data(tmp_path / "missing.json")


def _text(folder: Path, content: str) -> Path:
    path = folder / "text.json"
    path.write_text(content)
    return path


def test_marked_turns_are_the_evidence(tmp_path: Path) -> None:
    marked = entry("q1")
    marked["haystack_sessions"][1][0]["has_answer"] = True
    path = saved(tmp_path, [marked, entry("q2"), entry("q3_abs")], "longmemeval.json")
    questions = read_questions(path, limit=None)
    assert [each.evidence for each in questions] == [("1/0",), ("1/0", "1/1")]
    assert [each.user for each in dialogues_of(questions)] == ["q1", "q2"]


def history(folder: Path, *, sessions: int, questions: int = 1) -> list[Question]:
    """Questions with histories of sessions of one message; the second session has the answer."""
    made = []
    for number in range(questions):
        one = entry(f"q{number}")
        one |= {
            "haystack_dates": [f"2023/05/{day:02} (Mon) 10:00" for day in range(1, sessions + 1)],
            "haystack_session_ids": [f"s{each}" for each in range(1, sessions + 1)],
            "haystack_sessions": [[{"role": "user", "content": f"q{number} s{each}"}] for each in range(1, sessions + 1)],
        }
        made.append(one)
    return list(read_longmemeval(saved(folder, made, "history.json")))


def said(question: Question) -> list[tuple[str, str]]:
    """The text and the id of each message."""
    return [(message.text, str(message.id)) for window in question.windows for message in window.messages]


@given(sessions=st.integers(2, 25))
def test_the_evidence_moves_to_its_third(tmp_path_factory: pytest.TempPathFactory, sessions: int) -> None:
    questions = history(tmp_path_factory.mktemp("history"), sessions=sessions)
    dates = [window.messages[0].event_time for window in questions[0].windows]
    found = []
    for place in PLACES:
        (question,) = moved(questions, place)
        assert sorted(said(question)) == sorted(said(questions[0])), "no message is lost or changed"
        assert [window.messages[0].event_time for window in question.windows] == dates, "in the order of the dates"
        found.append([window.session for window in question.windows].index("1") / sessions)
    assert found == sorted(found)
    if sessions >= 6:
        assert found[0] < 1 / 3 <= found[1] < 2 / 3 <= found[2]


@given(sessions=st.integers(2, 25), percent=st.sampled_from([50, 150, 200]))
def test_a_scaled_history_has_its_length(tmp_path_factory: pytest.TempPathFactory, sessions: int, percent: int) -> None:
    questions = history(tmp_path_factory.mktemp("history"), sessions=sessions, questions=3)
    for before, after in zip(questions, scaled(questions, percent), strict=True):
        assert after.sessions == len(after.windows) == sessions * percent // 100 or sessions < 4
        assert set(before.evidence) <= {name for _, name in said(after)}
        assert {window.user for window in after.windows} == {before.id}
        times = [window.messages[0].event_time for window in after.windows]
        assert times == sorted(times)
        assert times[-1] <= after.asked_at
        names = [name for _, name in said(after)]
        assert len(names) == len(set(names)), "ids stay unique"


def test_too_few_sessions_are_reported(tmp_path: Path) -> None:
    with pytest.raises(DataSetError, match="needs 10 further sessions, and the other questions of the file have 0"):
        scaled(history(tmp_path, sessions=10), 200)
