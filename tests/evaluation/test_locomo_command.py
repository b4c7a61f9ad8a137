"""``python -m evaluation locomo`` on a made-up conversation in LoCoMo's form, with the real embedding model and the real store."""

import argparse
from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluation.recall.command import run

pytestmark = pytest.mark.integration

TURNS = [
    ("Ann", "I adopted a grey cat called Minka from the shelter yesterday."),
    ("Ben", "How lovely! I have just booked a sailing course in Kiel for August."),
    ("Ann", "I start my new job as a bookbinder in Leipzig next week."),
    ("Ben", "My brother Tom broke his arm while climbing."),
]


def conversation(user: str) -> dict[str, Any]:
    return {
        "sample_id": user,
        "conversation": {
            "speaker_a": "Ann",
            "speaker_b": "Ben",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": speaker, "dia_id": f"D1:{number}", "text": text} for number, (speaker, text) in enumerate(TURNS, start=1)
            ],
        },
        "qa": [
            {"question": "What is the name of Ann's cat?", "category": 4, "evidence": ["D1:1"]},
            {"question": "Where does Ben take a sailing course?", "category": 4, "evidence": ["D1:2"]},
            {"question": "What colour is Tom's boat?", "category": 5, "evidence": ["D1:4"]},
        ],
    }


@pytest.mark.parametrize("aged_days", [None, 400])
def test_every_way_of_ranking_is_measured(tmp_path: Path, aged_days: int | None) -> None:
    data = tmp_path / "two.json"
    data.write_bytes(orjson.dumps([conversation("one"), conversation("two")]))
    report = run(argparse.Namespace(data=data, profile="learned", aged_days=aged_days))
    overall = report["overall"]
    assert (overall["questions"], overall["recall_at_10"], overall["hit_at_5"]) == (4, 1.0, 1.0)
    assert set(report["ways"]) == {"learned", "weighted", "memx", "dense", "bm25", "late", "rrf", "raw_turns"}
    assert {each["questions"] for each in report["ways"].values()} == {4}
    assert report["budgets"]["500"]["all_evidence"] == 1.0
    assert report["categories"]["5"]["questions"] == 2
    assert report["rejection"]["unanswerable"]["questions"] == 2
    assert report["rejection"]["of_another_user"]["questions"] == 4
    assert (report["aged_days"], report["stored_tokens_to_raw"] > 0) == (aged_days, True)
    assert len(report["data_sha256"]) == 64
