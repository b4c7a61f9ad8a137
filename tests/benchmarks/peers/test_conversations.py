"""The data that all systems get."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.peers.conversations import locomo_file, read_corpus
from benchmarks.peers.worker import Job


def _sample(name: str, texts: list[str]) -> dict[str, Any]:
    turns = [{"dia_id": f"D1:{number}", "speaker": "Ann", "text": text} for number, text in enumerate(texts, start=1)]
    return {
        "sample_id": name,
        "conversation": {"speaker_a": "Ann", "session_1": turns, "session_1_date_time": "1:00 pm on 3 May, 2023"},
        "qa": [
            {"question": f"Where does {name} live?", "category": 4, "evidence": ["D1:2"], "answer": "Oslo"},
            {"question": "When did the ship sink?", "category": 5, "evidence": ["D1:1"]},
        ],
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    samples = [_sample("first", ["Hello!", "I live in Oslo."]), _sample("second", ["Hi!", "I live in Rome."]), _sample("third", ["Yes."])]
    (tmp_path / "locomo10.json").write_text(json.dumps(samples))
    return tmp_path


def test_a_folder_or_the_file_names_the_data(folder: Path) -> None:
    file = folder / "locomo10.json"
    assert locomo_file(folder) == locomo_file(file) == file
    assert locomo_file(folder / "missing") is None
    (folder / "empty").mkdir()
    assert locomo_file(folder / "empty") is None


def test_evidence_names_messages_of_its_conversation(folder: Path) -> None:
    corpus = read_corpus(folder / "locomo10.json", conversations=2)
    assert [each.id for each in corpus.turns] == ["first-D1:1", "first-D1:2", "second-D1:1", "second-D1:2"]
    assert [each.user for each in corpus.queries] == ["first", "first", "second", "second"]
    assert corpus.gold == [{"first-D1:2"}, set(), {"second-D1:2"}, set()]
    assert corpus.turns[1].with_speaker == "Ann: I live in Oslo."


def test_questions_are_limited_for_each_conversation(folder: Path) -> None:
    corpus = read_corpus(folder / "locomo10.json", conversations=2, questions=1)
    assert [each.user for each in corpus.queries] == ["first", "second"]


def test_a_job_survives_its_way_to_the_worker(folder: Path) -> None:
    corpus = read_corpus(folder / "locomo10.json", conversations=3)
    job = Job(corpus.turns, corpus.queries)
    assert "\n" not in job.to_json()
    assert Job.from_json(job.to_json()) == job
