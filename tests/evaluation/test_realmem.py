"""RealMem: reading its files, its measures, and the command on a made-up user and on a published one."""

import argparse
import asyncio
import json
import os
from math import log2
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.errors import DataSetError
from evaluation.realmem import command
from evaluation.realmem.coverage import is_covered, is_supported
from evaluation.realmem.dataset import read_user, user_files
from evaluation.realmem.judging import judgement_of
from evaluation.realmem.measures import Outcome, quality_of, summary
from evaluation.realmem.replay import WAYS
from loadtest.llm_simulator import LLMSimulator
from loadtest.requests import ChatRequest
from tests.evaluation.realmem_files import dialogues, written

PUBLISHED = Path(os.environ.get("VARVE_TEST_DATA") or Path(__file__).parents[3] / "shared" / "data") / "realmem"
MEALS = {
    "type": "fact",
    "msgs": [1],
    "date": "",
    "content": "The kitten needs four small meals a day.",
    "about": "Minka",
    "keywords": [],
    "weight": 5,
}
INVENTED = MEALS | {"content": "Minka won 900 euros at a lottery in Paris."}


def run(data: Path, *options: str) -> dict[str, Any]:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return command.run(argparse.Namespace(**vars(parser.parse_args(options)), data=data))


def test_evidence_is_the_used_memories_messages(tmp_path: Path) -> None:
    queries = [query for session in read_user(written(tmp_path, dialogues())).sessions for query in session.queries]
    assert [(each.id, list(each.sessions), list(each.messages)) for each in queries] == [
        ("Q-1", ["aaaa0001"], ["aaaa0001/1"]),
        ("Q-2", ["aaaa0002"], ["aaaa0002/1"]),
    ]


def test_an_edited_source_is_found_by_turn_and_role(tmp_path: Path) -> None:
    sessions = dialogues()
    sessions[1]["extracted_memory"][0]["source_role_snapshot"] = "User"
    second = read_user(written(tmp_path, sessions)).sessions[1]
    assert [each.message_id for each in second.gold] == [None, None]
    second = read_user(written(tmp_path, dialogues())).sessions[1]
    assert [each.message_id for each in second.gold] == ["aaaa0002/1", None]


def test_messages_keep_their_order_and_day(tmp_path: Path) -> None:
    sessions = dialogues()
    sessions[1]["current_time"] = sessions[0]["current_time"]
    user = read_user(written(tmp_path, sessions))
    times = [message.event_time for session in user.sessions for window in session.windows for message in window.messages]
    assert times == sorted(set(times))
    assert [f"{each:%Y-%m-%d}" for each in times] == ["2025-12-15"] * 4 + ["2026-01-02"] * 4


def test_a_decreasing_date_is_replaced(tmp_path: Path) -> None:
    sessions = dialogues()
    sessions[1]["current_time"] = "2025-11-01 (Saturday)"
    user = read_user(written(tmp_path, sessions))
    assert [each.is_redated for each in user.sessions] == [False, True, False]
    assert f"{user.sessions[1].windows[0].messages[0].event_time:%Y-%m-%d}" == "2025-12-15"


@pytest.mark.parametrize("damage", [{"current_time": "soon"}, {"dialogue_turns": [{"speaker": "Bot"}]}, {"session_uuid": None}])
def test_another_form_is_refused(tmp_path: Path, damage: dict[str, Any]) -> None:
    sessions = dialogues()
    sessions[1] |= damage
    with pytest.raises(DataSetError, match="not in RealMem's form"):
        read_user(written(tmp_path, sessions))


def test_users_are_chosen_by_name(tmp_path: Path) -> None:
    paths = [written(tmp_path, dialogues(), name) for name in ("Ann_Example", "Ben_Example")]
    assert user_files(tmp_path) == paths
    assert user_files(tmp_path, "Ben") == user_files(paths[1]) == paths[1:]
    with pytest.raises(DataSetError, match="its users are Ann_Example, Ben_Example"):
        user_files(tmp_path, "Cid")
    with pytest.raises(DataSetError, match="has no file"):
        user_files(tmp_path / "nothing")


def test_a_ranking_is_judged_by_its_first_ten() -> None:
    quality = quality_of([*"vwxya", *"bcdez", "f"], {"a", "b", "f"})
    ideal = 1 + 1 / log2(3) + 1 / log2(4)
    assert (quality.recall_at_5, quality.recall_at_10, quality.hit_at_10) == (1 / 3, 2 / 3, 1.0)
    assert quality.ndcg_at_10 == pytest.approx((1 / log2(6) + 1 / log2(7)) / ideal)
    assert quality_of(["a"], {"b"}).ndcg_at_10 == 0


@given(st.permutations(list("abcdefghijklmnop")), st.sets(st.sampled_from("abcdefghijklmnop"), min_size=1))
def test_evidence_first_is_the_best_ranking(ranking: list[str], right: set[str]) -> None:
    best = quality_of(sorted(ranking, key=lambda each: each not in right), right)
    found = quality_of(ranking, right)
    assert best.ndcg_at_10 == pytest.approx(1)
    assert found.ndcg_at_10 <= best.ndcg_at_10 + 1e-9
    assert found.recall_at_5 <= found.recall_at_10 <= found.hit_at_10


def test_queries_without_known_messages_count_for_sessions() -> None:
    hit, miss = quality_of(["a"], {"a"}), quality_of(["b"], {"a"})
    report = summary([Outcome(hit, hit), Outcome(None, miss)])
    assert (report["queries"], report["messages"]["queries"], report["messages"]["recall_at_10"]) == (2, 1, 1.0)
    assert (report["sessions"]["queries"], report["sessions"]["recall_at_10"]) == (2, 0.5)


def test_half_of_the_words_cover_a_memory() -> None:
    stored = ["weighs 75 kg and is 165 cm tall", "lives in Bergen", "likes tea", "has a cat"]
    assert is_covered("【Body】 User weighs 75kg, waist 88cm.", stored)
    assert not is_covered("User waist 88cm, hips 105cm, weighs much.", stored)
    assert not is_covered("【weighs 75 kg, is 165 cm tall】 Waist, hips.", stored)
    assert not is_covered("User", stored)


def test_a_new_number_is_unsupported() -> None:
    said = "I booked a sailing course in Kiel for 3 weeks."
    assert is_supported("Ann booked a sailing course of 3 weeks in Kiel on 2026-08-03.", said)
    assert is_supported("Ann booked a sailing course in Kiel in August 2026.", said)
    assert not is_supported("Ann booked a sailing course of 4 weeks in Kiel.", said)
    assert not is_supported("Ann sold a bicycle in Kiel.", said)


@pytest.mark.parametrize("reply", ["no", "{}", '{"covered": [2], "false": []}', '{"covered": [], "false": [-1]}'])
def test_an_unusable_judgement_is_refused(reply: str) -> None:
    assert judgement_of(reply, gold=2, items=1) is None


def test_a_judgement_may_have_words_around_it() -> None:
    judgement = judgement_of('Here: {"covered": [1], "false": []}.', gold=2, items=1)
    assert judgement is not None
    assert judgement.covered == (1,)


@pytest.mark.integration
def test_earlier_sessions_answer_each_query(tmp_path: Path) -> None:
    report = run(written(tmp_path, dialogues()).parent)
    assert (report["sessions"], report["overall"]["queries"], report["queries_without_evidence"]) == (3, 2, 0)
    assert set(report["ways"]) == set(WAYS)
    for way in ("learned", "bm25", "raw_learned", "raw_dense"):
        assert report["ways"][way]["messages"]["recall_at_10"] == report["ways"][way]["sessions"]["recall_at_5"] == 1.0
    assert {name: each["learned"]["queries"] for name, each in report["categories"].items()} == {
        "Dynamic Incremental": 1,
        "Implicit Preference": 1,
    }
    assert "| raw_bm25 | 1.000 |" in report["markdown"]


@pytest.mark.integration
def test_later_sessions_are_never_found(tmp_path: Path) -> None:
    sessions = dialogues()
    asking = sessions.pop()
    report = run(written(tmp_path, [sessions[0], asking, sessions[1]]).parent)
    used = report["ways"]["learned"]
    assert (used["queries"], used["sessions"]["recall_at_10"]) == (2, 0.5)


@pytest.mark.integration
async def test_a_model_extracts_and_is_judged(tmp_path: Path) -> None:
    def answer(request: ChatRequest) -> str:
        shown = request.messages[-1][1]
        if "\nNotes\n" in shown:
            return json.dumps({"covered": [0] if "four small meals" in shown else [], "false": [1] if "lottery" in shown else []})
        events = [MEALS, INVENTED] if "Minka from the shelter" in shown else []
        return json.dumps({"segments": [], "events": events, "patches": []})

    data = written(tmp_path, dialogues()).parent
    async with LLMSimulator(answer=answer) as simulator:
        options = ["--endpoint", simulator.base_url, "--model", "m", "--judge-model", "j", "--replies", str(tmp_path / "replies.jsonl")]
        first = await asyncio.to_thread(run, data, *options)
        again = await asyncio.to_thread(run, data, *options)
    assert (first["calls"], again["calls"]) == (3, 0)
    assert (first["coverage"]["gold"], first["coverage"]["covered"]) == (4, 1)
    assert [each["text"] for each in first["coverage"]["unsupported_items"]] == [INVENTED["content"]]
    judged = first["judged"]
    assert (judged["gold"], judged["covered_share"], judged["items"], judged["false_share"]) == (4, 0.25, 2, 0.5)
    assert first["ways"]["learned"]["messages"]["recall_at_10"] == 0.5
    assert {**again, "calls": 3} == first


@pytest.mark.skipif(not PUBLISHED.is_dir(), reason=f"needs RealMem's dialogues in {PUBLISHED} (folder in VARVE_TEST_DATA)")
def test_published_users_are_read() -> None:
    for path in user_files(PUBLISHED):
        queries = [query for session in read_user(path).sessions for query in session.queries]
        assert len(queries) > 100
        assert sum(bool(each.messages) for each in queries) > 0.9 * len(queries)
