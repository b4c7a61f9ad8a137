"""The data steps of the training kit: formats, disjoint users, seeds, interrupted runs, and answers that a recall would accept."""

import argparse
import csv
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.errors import DataSetError
from retrieval.session_ranking.prompt import parse_ranking
from tests.evaluation.conversations import conversation
from tests.evaluation.longmemeval_files import entry
from tests.evaluation.realmem_files import dialogues, written
from training.runs import Run, RunError
from training.sift.data import command as data
from training.sift.data.examples import (
    TEST,
    TRAIN,
    WARM_UP,
    Example,
    SplitError,
    UserExamples,
    WarmUpExample,
    check_disjoint,
    examples_of,
    split_users,
)
from training.sift.learning import warm_up
from training.sift.learning.warm_up import answer_of

COLUMNS = ("persona_id", "user_question_or_message", "correct_answer", "all_options", "shared_context_id", "end_index_in_shared_context")


def personamem(folder: Path) -> Path:
    """Two personas; the second question of the first sees half of the second session."""
    folder.mkdir()
    messages = [
        {"role": "system", "content": "The user is a baker."},
        {"role": "user", "content": "I like rye bread."},
        {"role": "assistant", "content": "Noted."},
        {"role": "system", "content": "The user is a baker."},
        {"role": "user", "content": "I went sailing."},
        {"role": "user", "content": "I hated it."},
    ]
    (folder / "shared_contexts_32k.jsonl").write_bytes(b"".join(orjson.dumps({each: messages}) + b"\n" for each in ("c1", "c2")))
    rows = [("p1", "c1", 6), ("p1", "c1", 5), ("p2", "c2", 3)]
    with (folder / "questions_32k.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows((persona, "What bread?", "(b)", "['(a) white', '(b) rye']", context, end) for persona, context, end in rows)
    return folder


def sources(folder: Path) -> list[Path]:
    """One path for each format."""
    (folder / "realmem").mkdir()
    for name in ("Ann_Example", "Bob_Example", "Cid_Example"):
        written(folder / "realmem", dialogues(), name)
    for name, content in (("locomo", [conversation("dan")]), ("longmemeval", [entry("q1"), entry("q2")])):
        (folder / f"{name}.json").write_bytes(orjson.dumps(content))
    return [folder / "realmem", folder / "locomo.json", folder / "longmemeval.json", personamem(folder / "personamem")]


def make(run: Path, paths: list[Path], **changed: Any) -> list[str]:
    given = {"tenant": [], "seed": 7, "test_share": 0.2, "history_tokens": 24_000, **changed}
    return list(data.run(argparse.Namespace(run=run, data=paths, **given)))


def warm(run: Path, **changed: Any) -> list[WarmUpExample]:
    made_only = {"teacher": False, "max_tokens": 1024, "train": None}
    given = {"examples": None, "seed": 7, "sessions": 10, "direct": False, **made_only, **changed}
    list(warm_up.run(argparse.Namespace(run=run, **given)))
    return list(Run(run).read(WARM_UP, WarmUpExample))


def users_in(run: Path, name: str) -> list[UserExamples]:
    return list(Run(run).read(name, UserExamples))


def test_every_format_gives_disjoint_sets(tmp_path: Path) -> None:
    lines = make(tmp_path / "run", sources(tmp_path))
    train, test = users_in(tmp_path / "run", TRAIN), users_in(tmp_path / "run", TEST)
    assert "Model calls: 0. Cost: 0." in lines
    assert {each.source for each in (*train, *test)} == {"realmem", "locomo", "longmemeval", "personamem"}
    assert (len(train), len(test)) == (6, 2)
    assert not {each.user for each in train} & {each.user for each in test}
    for user in (*train, *test):
        for example in user.examples:
            assert bool(example.gold) == (user.source != "personamem")
            assert all(0 <= place < len(example.sessions) == len(example.relevance) for place in example.gold)


def test_a_question_sees_its_part_of_a_context(tmp_path: Path) -> None:
    make(tmp_path / "run", [personamem(tmp_path / "personamem")], test_share=0.0)
    first, second = users_in(tmp_path / "run", TRAIN)
    lines = [
        [
            [line.partition(" ")[2] for line in session.lines]
            for name in example.sessions
            for session in first.sessions
            if session.name == name
        ]
        for example in first.examples
    ]
    bread, sailing = ["I like rye bread.", "Noted."], ["I went sailing.", "I hated it."]
    assert lines == [[bread, sailing], [bread, sailing[:1]]]
    assert [each.answer for each in second.examples] == ["(b)"]
    assert "baker" not in (tmp_path / "run" / TRAIN).read_text()


def test_other_files_are_no_personamem(tmp_path: Path) -> None:
    folder = personamem(tmp_path / "personamem")
    (folder / "questions_32k.csv").write_text("persona_id,shared_context_id\np1,c9\n")
    with pytest.raises(DataSetError, match="PersonaMem's form"):
        make(tmp_path / "run", [folder])
    (folder / "shared_contexts_32k.jsonl").unlink()
    with pytest.raises(DataSetError, match="cannot be read"):
        make(tmp_path / "other", [folder])


def test_an_interrupted_run_continues(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = sources(tmp_path)
    make(tmp_path / "whole", paths)
    made: list[str] = []

    async def failing(history: Any, **more: Any) -> UserExamples:
        if len(made) == 3:
            raise KeyboardInterrupt
        made.append(history.user)
        return await examples_of(history, **more)

    monkeypatch.setattr("training.sift.data.command.examples_of", failing)
    with pytest.raises(KeyboardInterrupt):
        make(tmp_path / "run", paths)
    assert not (tmp_path / "run" / TRAIN).exists()
    monkeypatch.setattr("training.sift.data.command.examples_of", examples_of)
    kept = {each: each.stat().st_mtime_ns for each in (tmp_path / "run" / "users").iterdir()}
    assert len(kept) == 3
    make(tmp_path / "run", paths)
    assert {each: each.stat().st_mtime_ns for each in kept} == kept
    for name in (TRAIN, TEST):
        assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    records = [orjson.loads(each) for each in (tmp_path / "run" / "metrics.jsonl").read_bytes().splitlines()]
    assert (sum("part" in each for each in records), records[-1]["shared_sessions"]) == (8, 3)


def test_another_configuration_needs_another_folder(tmp_path: Path) -> None:
    paths = sources(tmp_path)[1:2]
    make(tmp_path / "run", paths)
    with pytest.raises(RunError, match="another 'seed'"):
        make(tmp_path / "run", paths, seed=8)
    with pytest.raises(RunError, match="test-share"):
        make(tmp_path / "other", paths, test_share=1.0)
    with pytest.raises(RunError, match="occurs twice"):
        make(tmp_path / "twice", paths * 2)
    with pytest.raises(RunError, match="run the step that makes it first"):
        warm(tmp_path / "empty")


@given(st.sets(st.text(max_size=4), max_size=12), st.floats(min_value=0, max_value=0.9), st.integers())
def test_a_split_divides_the_users(users: set[str], share: float, seed: int) -> None:
    train, test = split_users(users, test_share=share, seed=seed)
    assert train | test == users
    assert not train & test
    assert (train, test) == split_users(sorted(users, reverse=True), test_share=share, seed=seed)
    if share > 0 and len(users) > 1:
        assert train
        assert test


def test_a_common_user_is_found() -> None:
    user = UserExamples(user="realmem/Ann", source="realmem", sessions=(), examples=())
    with pytest.raises(SplitError, match="realmem/Ann"):
        check_disjoint([user], [user])


def test_relevant_sessions_are_kept_within_the_budget(tmp_path: Path) -> None:
    asked = entry("q1", answer="s3")
    asked["haystack_sessions"] = [[{"role": "user", "content": "My cat is called Minka. " * 8}]] * 2 + asked["haystack_sessions"][2:]
    (tmp_path / "longmemeval.json").write_bytes(orjson.dumps([asked]))
    make(tmp_path / "run", [tmp_path / "longmemeval.json"], history_tokens=110, test_share=0.0)
    [user] = users_in(tmp_path / "run", TRAIN)
    [example] = user.examples
    assert example.sessions[-1] == "2"
    assert (len(example.sessions), example.gold) == (2, (1,))
    assert example.relevance[0] > example.relevance[1], "the kept session shares no word with the question"


@pytest.mark.parametrize("direct", [False, True])
def test_warm_up_answers_are_accepted(tmp_path: Path, direct: bool) -> None:
    make(tmp_path / "run", sources(tmp_path), test_share=0.0)
    made = warm(tmp_path / "run", direct=direct)
    examples = {example.id: example for user in users_in(tmp_path / "run", TRAIN) for example in user.examples if example.gold}
    assert {each.id for each in made} == {*examples}
    for each in made:
        example, answer = examples[each.id], each.completion[0]["content"]
        places = parse_ranking(answer, sessions=len(example.sessions), reasoning=not direct).places
        assert set(places[: len(example.gold)]) == set(example.gold)
        assert ("<think>" in answer) is not direct
        assert [message["role"] for message in each.prompt] == ["system", "user"]
        assert example.query in each.prompt[1]["content"]
    assert len(warm(tmp_path / "run", direct=direct)) == len(made)


def test_an_answer_has_the_best_sessions_only() -> None:
    example = Example(id="e", user="u", query="?", sessions=tuple("abcd"), gold=(1, 2), relevance=(9.0, 1.0, 2.0, 3.0))
    assert answer_of(example, most=3, reasoning=False) == "<ranking>2,1,0</ranking>"
    assert "Sessions 2, 1 have" in answer_of(example, most=3, reasoning=True)
    assert "Session 2 has" in answer_of(example, most=1, reasoning=True)


def test_warm_up_draws_by_its_seed(tmp_path: Path) -> None:
    paths = sources(tmp_path)
    drawn = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        make(tmp_path / name, paths, test_share=0.0)
        drawn.append([each.id for each in warm(tmp_path / name, examples=4, seed=seed)])
    assert drawn[0] == drawn[1] != drawn[2]
    assert len(drawn[0]) == 4


def test_changed_sets_delete_derived_files(tmp_path: Path) -> None:
    run, paths = tmp_path / "run", sources(tmp_path)
    make(run, paths)
    derived = ["teacher-answers.jsonl", "iteration-1/rewards.jsonl", "iteration-1/rewards/000000.jsonl", "iteration-1/curriculum.jsonl"]
    derived += ["iteration-1/reward.config.json", "evaluation/bm25.jsonl", "warm-up.jsonl"]
    for name in (*derived, "warm-up/config.json"):
        Run(run).write_text(name, "")
    assert not any("Trained" in line for line in make(run, paths))
    assert all((run / name).exists() for name in derived)
    (run / TRAIN).unlink()
    lines = make(run, paths)
    assert not any((run / name).exists() for name in derived)
    assert any(str(run / "warm-up") in line for line in lines if line.startswith("Trained on the earlier"))
    assert (run / "warm-up" / "config.json").exists()
