"""LLM_MERGE: every statement is in the text once, whatever the order of events and answers, and a rebuild asks nothing again."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.records import Contribution, Merged
from operators.errors import UnusableAnswerError
from operators.llm.llm_operator import Question
from operators.llm.merged_text import MAX_RECENT, MAX_WAITING
from tests.operators.merging_log import STORY, MergedEntity, contribution, entity_type, rebuilt, said, undated

KIND = entity_type(Characters=8000)


def lines_of(entity: MergedEntity) -> list[str]:
    """The text's lines without the days that the rule writes."""
    return sorted(undated(line) for line in (entity.text or "").splitlines())


def asked(question: Question) -> dict[str, Any]:
    return question.content


def statements(*texts: str, position: int = 0) -> Contribution:
    return contribution([change for text in texts for change in said(text, text)], position=position)


def test_a_statement_shows_before_it_is_merged() -> None:
    entity = MergedEntity(KIND)
    entity.contribute(statements("likes tea", "likes fog"))
    assert lines_of(entity) == ["likes fog", "likes tea"]
    assert (entity.written.by, entity.written.pending) == ("rule", 2)
    entity.answer_all()
    assert entity.text == "likes fog\nlikes tea"
    assert (entity.written.by, entity.written.pending, entity.written.stale) == ("m", 0, False)


def test_a_first_statement_needs_no_model() -> None:
    entity = MergedEntity(KIND)
    log = [statements("likes tea"), statements("likes fog", position=1)]
    entity.contribute(log[0])
    assert entity.asked == 0
    assert (entity.text, entity.written.by, entity.written.pending) == ("2024-05-01: likes tea", "rule", 0)
    entity.contribute(log[1])
    assert [(asked(each)["text"], [text for _, text in asked(each)["added"]]) for each in entity.questions] == [
        ("2024-05-01: likes tea", ["likes fog"])
    ]
    entity.answer_all()
    assert entity.text == "likes fog\nlikes tea"
    assert rebuilt(entity, [log]).raw == entity.raw


def test_a_long_first_statement_is_shortened_by_a_model() -> None:
    entity = MergedEntity(entity_type(Characters=200))
    entity.contribute(statements("rain and fog, " * 20))
    assert entity.asked == 1


def test_statements_arriving_during_a_merge_are_sent_together() -> None:
    entity = MergedEntity(KIND)
    for position in range(7):
        entity.contribute(statements(f"s{position}", position=position))
    assert [len(asked(question)["added"]) for question in entity.questions] == [1]
    entity.apply_outcome(entity.answer_next())
    assert [question.content["added"] for question in entity.questions] == [[[1714521600000000, f"s{each}"] for each in range(2, 7)]]
    entity.answer_all()
    assert lines_of(entity) == [f"s{each}" for each in range(7)]
    assert entity.asked == 2


def test_a_retraction_merges_the_others_again() -> None:
    entity = MergedEntity(KIND)
    entity.contribute(statements("a", "b", "c"))
    entity.answer_all()
    entity.contribute(contribution(said("b", "b", op="retract"), position=1))
    assert entity.written.stale
    assert "(being revised)" in entity.memory.content
    question = entity.questions[0]
    assert question.content["text"] == ""
    assert [text for _, text in asked(question)["added"]] == ["a", "c"]
    entity.answer_all()
    assert lines_of(entity) == ["a", "c"]
    assert not entity.written.stale


def test_merged_statements_are_removed_by_name() -> None:
    entity = MergedEntity(KIND)
    for position in range(MAX_RECENT + 8):
        entity.contribute(statements(f"s{position:02d}", position=position))
        entity.answer_all()
    entity.contribute(contribution(said("s00", "s00", op="retract"), position=99))
    assert [text for _, text in asked(entity.questions[0])["withdrawn"]] == ["s00"]
    entity.answer_all()
    assert lines_of(entity) == [f"s{each:02d}" for each in range(1, MAX_RECENT + 8)]


def test_an_answer_with_a_retracted_event_is_stale() -> None:
    entity = MergedEntity(KIND)
    entity.contribute(statements("a", "b"))
    late = entity.answer_next()
    entity.contribute(contribution(said("b", "b", op="retract"), position=1))
    entity.apply_outcome(late)
    assert entity.written.stale
    entity.answer_all()
    assert lines_of(entity) == ["a"]


def test_the_same_extraction_again_asks_nothing() -> None:
    entity = MergedEntity(KIND)
    entity.contribute(statements("a", "b"))
    entity.answer_all()
    again = [*said("a", "a", op="retract"), *said("b", "b", op="retract"), *said("a", "a"), *said("b", "b")]
    entity.contribute(contribution(again, position=1))
    assert entity.questions == []
    assert entity.text == "a\nb"
    assert not entity.written.stale


def test_an_answer_counts_once() -> None:
    entity = MergedEntity(KIND)
    entity.contribute(statements("a", "b"))
    answer = entity.answer_next()
    assert entity.apply_outcome(answer)
    before = entity.raw
    assert not entity.apply_outcome(answer)
    assert entity.raw == before


def test_a_rebuild_skips_merged_statements() -> None:
    entity = MergedEntity(KIND)
    log = [statements("a"), statements("b", position=1), contribution(said("a", "a", op="retract"), position=2)]
    for each in log:
        entity.contribute(each)
        entity.answer_all()
    again = rebuilt(entity, [[each] for each in log])
    assert (again.asked, again.raw) == (0, entity.raw)


def test_pending_statements_are_bounded_while_a_model_hangs() -> None:
    entity = MergedEntity(entity_type(Characters=300))
    sizes = []
    for position in range(6 * MAX_WAITING):
        entity.contribute(statements(f"s{position:04d}", position=position))
        sizes.append(len(entity.raw))
    assert max(sizes[len(sizes) // 2 :]) <= 1.3 * max(sizes[: len(sizes) // 2])
    assert entity.written.by == "rule"
    assert entity.asked == 1
    late = entity.answer_next()
    text = entity.text
    entity.apply_outcome(late)
    assert entity.text == text, "what the rule has merged since is more"
    entity.answer_all()
    assert (entity.written.by, entity.written.pending, entity.asked) == ("m", 0, 2)


def test_without_a_model_the_rule_merges_and_reports_it() -> None:
    entity = MergedEntity(KIND, has_llm=False)
    entity.contribute(
        contribution([*said("b", "Likes tea", day=3), *said("a", "lives in Oslo", day=1)], position=0),
        contribution(said("c", "likes TEA!", day=5), position=1),
    )
    assert entity.text == "2024-05-02: lives in Oslo\n2024-05-06: likes TEA!"
    assert entity.written.model_dump(exclude_none=True) == {"by": "rule", "pending": 0, "stale": False, "superseded": []}
    assert entity.questions == []
    entity.contribute(contribution(said("c", "likes TEA!", day=5, op="retract"), position=2))
    assert entity.text == "2024-05-02: lives in Oslo\n2024-05-04: Likes tea"


@pytest.mark.parametrize("has_llm", [True, False])
def test_a_text_stays_within_its_limit(has_llm: bool) -> None:
    entity = MergedEntity(entity_type(Characters=300), has_llm=has_llm)
    for position in range(3 * MAX_RECENT):
        entity.contribute(statements(f"statement {position:03d} of some length", position=position))
        entity.answer_all()
        assert len(entity.text or "") <= 300
    if not has_llm:
        assert (entity.text or "").endswith("statement 095 of some length"), "the newest stay"


def test_all_retracted_leaves_no_text() -> None:
    entity = MergedEntity(KIND)
    entity.contribute(statements("a"), contribution(said("z", "z"), position=1))
    entity.answer_all()
    entity.contribute(contribution([*said("a", "a", op="retract"), *said("z", "z", op="retract")], position=2))
    assert entity.questions == []
    assert entity.memory is None
    entity.contribute(statements("new", position=3))
    entity.answer_all()
    assert entity.text == "2024-05-01: new"


def test_a_model_names_the_superseded_statements() -> None:
    answer: dict[str, Any] = {"thoughts": "June is later", "text": "Works at B (before: at A).", "superseded": ["at A, until June"]}
    entity = MergedEntity(KIND, answer=lambda _: f"Here you are:\n```json\n{orjson.dumps(answer).decode()}\n```")
    entity.contribute(contribution([*said("b", "works at B", day=31), *said("a", "works at A")], position=0))
    prompt = entity.operator.prompt(entity.questions[0], subject="profile, story")
    asked = orjson.loads(prompt.user)
    assert asked["new"] == [{"day": "2024-05-01", "says": "works at A"}, {"day": "2024-06-01", "says": "works at B"}]
    assert asked["field"] == "profile, story: Their story."
    entity.answer_all()
    assert entity.text == "Works at B (before: at A)."
    assert entity.written.superseded == ["at A, until June"]


@pytest.mark.parametrize("answer", ["", "no", "{", "[]", '{"text": 3}', '{"text": " "}', '{"thoughts": "x"}'])
def test_an_unusable_answer_is_refused(answer: str) -> None:
    entity = MergedEntity(KIND)
    entity.contribute(statements("a", "b"))
    with pytest.raises(UnusableAnswerError):
        entity.operator.outcome(entity.questions[0], answer, model="m")
    assert not entity.operator.prompt(Question(entity.questions[0].content), subject="s").system.startswith("{")


LOGS = st.lists(st.tuples(st.integers(0, 1), st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=3)), max_size=16)
"""Extractions: the source partition, and the events that its window then has, by number and text. Each source has one window."""


def log_of(extractions: list[tuple[int, list[tuple[int, int]]]]) -> tuple[list[Contribution], list[str]]:
    """The contributions of each source in its order, as the events stage makes them, and the lines that hold in the end."""
    windows: dict[int, dict[str, str]] = {0: {}, 1: {}}
    contributions = []
    for position, (source, events) in enumerate(extractions):
        window = {f"{source}-{number}": f"{source}-{number}-{text}" for number, text in events}
        changes = [change for name, text in windows[source].items() for change in said(name, text, op="retract")]
        changes += [change for name, text in window.items() for change in said(name, text)]
        windows[source] = window
        if changes:
            contributions.append(contribution(changes, position=position, source=f"extractions/{source}"))
    return contributions, sorted(text for window in windows.values() for text in window.values())


def interleaved(contributions: list[Contribution], data: st.DataObject) -> list[list[Contribution]]:
    """Batches in an order that keeps each source's."""
    queues = [[each for each in contributions if each.source == f"extractions/{source}"] for source in (0, 1)]
    batches: list[list[Contribution]] = []
    while any(queues):
        queue = data.draw(st.sampled_from([queue for queue in queues if queue]))
        new_batch = data.draw(st.booleans()) or not batches
        (batches.append([queue.pop(0)]) if new_batch else batches[-1].append(queue.pop(0)))
    return batches


@given(extractions=LOGS, data=st.data())
def test_any_interleaving_is_rebuilt_without_a_call(extractions: list[tuple[int, list[tuple[int, int]]]], data: st.DataObject) -> None:
    contributions, holds = log_of(extractions)
    live = MergedEntity(KIND)
    on_their_way: list[Merged] = []
    for batch in interleaved(contributions, data):
        live.contribute(*batch)
        if data.draw(st.booleans()) and live.questions:
            on_their_way.append(live.answer_next(by_rule=data.draw(st.booleans())))
        if data.draw(st.booleans()) and on_their_way:
            live.apply_outcome(on_their_way[0] if data.draw(st.booleans()) else on_their_way.pop(0))
    for answer in on_their_way:
        live.apply_outcome(answer)
    if not contributions:
        return
    live.answer_all()
    assert lines_of(live) == holds
    if holds:
        assert (live.written.pending, live.written.stale) == (0, False)
    again = rebuilt(live, interleaved(contributions, data))
    assert again.asked == 0
    assert again.raw == live.raw
    assert again.memory == live.memory


@given(extractions=LOGS, data=st.data())
def test_a_rebuild_during_merges_gives_the_same_result(extractions: list[tuple[int, list[tuple[int, int]]]], data: st.DataObject) -> None:
    contributions, holds = log_of(extractions)
    if not contributions:
        return
    live = MergedEntity(KIND)
    for batch in interleaved(contributions, data):
        live.contribute(*batch)
        if data.draw(st.booleans()) and live.questions:
            live.apply_outcome(live.answer_next())
    again = MergedEntity(KIND)
    late = [live.answer_next()] if live.questions else []
    if live.newest is not None:
        again.apply_outcome(live.newest)
    for batch in interleaved(contributions, data):
        again.contribute(*batch)
        if data.draw(st.booleans()) and again.questions:
            again.apply_outcome(again.answer_next())
        if data.draw(st.booleans()) and late:
            again.apply_outcome(late.pop())
    again.answer_all()
    assert lines_of(again) == holds


@given(extractions=LOGS, data=st.data())
def test_a_rebuild_by_the_rule_is_byte_equal(extractions: list[tuple[int, list[tuple[int, int]]]], data: st.DataObject) -> None:
    contributions, holds = log_of(extractions)
    live = MergedEntity(KIND, has_llm=False)
    for batch in interleaved(contributions, data):
        live.contribute(*batch)
    if not contributions:
        return
    assert lines_of(live) == holds
    again = rebuilt(live, interleaved(contributions, data))
    assert (again.raw, again.memory) == (live.raw, live.memory)


def test_an_unknown_property_adopts_nothing() -> None:
    entity = MergedEntity(KIND)
    entity.contribute(statements("a"))
    assert not entity.apply_outcome(Merged(property="gone", outcome={}))
    assert not entity.apply_outcome(Merged(property="remarks", outcome={}))
    assert STORY in entity.memory.written
