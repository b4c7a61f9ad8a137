"""``python -m evaluation sift``: the formats, and the share of gold sessions at each budget, in a real store."""

import argparse
from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluation.errors import DataSetError
from evaluation.sift.command import BUDGETS, FILTERS, run
from evaluation.sift.histories import read_histories
from tests.evaluation.conversations import conversation
from tests.evaluation.longmemeval_files import entry
from tests.evaluation.realmem_files import dialogues, written


def in_file(folder: Path, content: Any, name: str = "data.json") -> Path:
    path = folder / name
    path.write_bytes(orjson.dumps(content))
    return path


def test_a_locomo_query_has_the_sessions_of_its_evidence(tmp_path: Path) -> None:
    [history] = read_histories(in_file(tmp_path, [conversation("ann")]))
    assert [each.text for each in history.queries] == ["What is the name of Ann's cat?", "Where does Ben take a sailing course?"]
    assert {each.gold for each in history.queries} == {frozenset(history.queries[0].sessions)}


def test_a_longmemeval_query_has_its_answers_sessions(tmp_path: Path) -> None:
    first, unanswerable = read_histories(in_file(tmp_path, [entry("q1"), entry("q2_abs")]))
    assert [(each.sessions, each.gold) for each in first.queries] == [(("0", "1", "2"), frozenset({"1"}))]
    assert unanswerable.queries == ()


def test_a_realmem_query_sees_earlier_sessions_only(tmp_path: Path) -> None:
    written(tmp_path, dialogues())
    [history] = read_histories(tmp_path)
    assert {each.sessions for each in history.queries} == {("aaaa0001", "aaaa0002")}
    assert [each.gold for each in history.queries] == [{"aaaa0001"}, {"aaaa0002"}]
    assert {each.session for each in history.windows} == {"aaaa0001", "aaaa0002", "aaaa0003"}


def test_data_without_gold_sessions_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "Chat_1.json"
    path.write_bytes(b'{"name": {}, "session_1": []}')
    with pytest.raises(DataSetError, match="is REALTALK, whose gold sessions are unknown"):
        list(read_histories(path))


@pytest.mark.integration
@pytest.mark.parametrize("content", ["turns", "events"])
def test_each_budget_keeps_a_share(tmp_path: Path, content: str) -> None:
    filler = [{"role": "user", "content": f"I planted {number} rows of beans next to the old shed today."} for number in range(60)]
    asked = entry("q1")
    asked["haystack_session_ids"] = [f"s{number}" for number in range(1, 9)]
    asked["haystack_dates"] = [asked["haystack_dates"][0]] * 8
    asked["haystack_sessions"] = [asked["haystack_sessions"][0], asked["haystack_sessions"][1], *[filler] * 6]
    data = in_file(tmp_path, [asked])
    report = run(argparse.Namespace(data=data, content=content, every=1))
    assert (report["format"], report["users"], report["queries"]) == ("longmemeval", 1, 1)
    for name in FILTERS:
        figures = report["filters"][name]
        assert [*figures] == [str(each) for each in BUDGETS]
        assert figures["2000"]["recall"] == figures["128000"]["recall"] == 1.0, "the cat is closer to the question than the beans"
        assert figures["2000"]["tokens"] <= 2000 < report["mean_history_tokens"] == figures["128000"]["tokens"]
    assert "| filter | 2k | 4k |" in report["markdown"]
