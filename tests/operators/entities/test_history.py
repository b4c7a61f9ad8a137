"""An entity at another moment: as it was, as it was known, and the fate of each statement."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.records import Contribution, HistoryEntry, Merged
from operators.entities.history import Beginning, HistoryReplay, Moment, beginning, in_order
from operators.entities.history_walk import HistoryWalk, name_of
from operators.entities.render import render
from tests.operators.merging_log import STORY, entity_type, said
from tests.operators.person import PERSON, Person, day, job, job_of, note, read_at

MARCH, JUNE, APRIL = 60, 150, 100


@pytest.mark.parametrize("late", [False, True])
def test_two_jobs_are_distinguished_by_time(late: bool) -> None:
    person = Person()
    first, second = job("A", "e-a", MARCH), job("B", "e-b", JUNE)
    for each in (second, first) if late else (first, second):
        person.read(*each)
    assert job_of(person.now()) == "B"
    assert job_of(person.at(Moment())) == "B"
    assert job_of(person.at(Moment(as_of=day(APRIL)))) == "A"
    assert person.at(Moment(as_of=day(MARCH - 1))) is None
    assert job_of(person.at(Moment(known_at=read_at(0)))) == ("B" if late else "A")
    assert person.at(Moment(known_at=read_at(-1))) is None
    assert job_of(person.at(Moment(as_of=day(APRIL), known_at=read_at(0)))) == (None if late else "A")


def test_superseded_is_not_wrong() -> None:
    person = Person()
    person.read(*job("A", "e-a", MARCH))
    person.read(*job("C", "e-c", APRIL))
    person.read(*job("B", "e-b", JUNE))
    person.read(*job("C", "e-c", APRIL, "retract"), cause="correction")
    person.read(*job("B", "e-b", JUNE, "retract"), *job("D", "e-d", JUNE + 1))
    assert person.fates() == {
        ("job", "e-a"): "superseded",
        ("jobs", "e-a"): "stands",
        ("job", "e-c"): "wrong",
        ("jobs", "e-c"): "wrong",
        ("job", "e-b"): "extracted_again",
        ("jobs", "e-b"): "extracted_again",
        ("job", "e-d"): "stands",
        ("jobs", "e-d"): "stands",
    }
    steps = person.walk()
    assert [(each.before.get("job"), each.after.get("job")) for each in steps] == [
        (None, "A"),
        ("A", "C"),
        ("C", "B"),
        (None, None),
        ("B", "D"),
    ]
    superseded = next(each for each in steps[0].changes if each.change.property == "job")
    assert (superseded.by, superseded.change.message_ids) == (steps[4].id, ["m-e-a"])
    assert next(each for each in steps[1].changes if each.change.property == "job").by == steps[3].id
    assert job_of(person.at(Moment(known_at=read_at(2), as_of=day(JUNE - 1)))) == "C", "as it was known before the correction"
    assert job_of(person.at(Moment(as_of=day(JUNE - 1)))) == "A"


def test_an_expired_event_is_not_wrong() -> None:
    person = Person()
    person.read(*job("A", "e-a", MARCH))
    person.read(*job("A", "e-a", MARCH, "retract"), cause="expiry")
    assert person.fates() == {("job", "e-a"): "expired", ("jobs", "e-a"): "expired"}


def test_a_texts_lines_are_superseded_one_by_one() -> None:
    person = Person()
    person.read(*note("likes tea", "p1", 1))
    person.read(*note("lives in Oslo", "p2", 2))
    person.read(*note("lives in Rome", "p3", 3, search="lives in Oslo"))
    person.read(*note("likes coffee\nlives in Rome", "p4", 4, search=None), cause="correction")
    assert person.fates() == {("notes", "p1"): "wrong", ("notes", "p2"): "superseded", ("notes", "p3"): "stands", ("notes", "p4"): "stands"}
    before = person.at(Moment(as_of=day(2)))
    assert before is not None
    assert before.properties["notes"] == "likes tea\nlives in Oslo"


def test_an_equal_repeated_extraction_is_no_change() -> None:
    person = Person()
    person.read(*job("A", "e-a", MARCH))
    person.read(*job("A", "e-a", MARCH, "retract"), *job("A", "e-a", MARCH))
    assert [len(each.changes) for each in person.walk()] == [2, 0]
    assert set(person.fates().values()) == {"stands"}


def test_history_can_be_read_by_event_time() -> None:
    person = Person()
    person.read(*job("A", "e-a", MARCH))
    person.read(*job("B", "e-b", JUNE))
    assert len(person.walk(Moment(as_of=day(APRIL)))) == 1
    assert len(person.walk(Moment(known_at=read_at(0)))) == 1


OPERATION = st.tuples(st.sampled_from(["job", "note", "retract", "again"]), st.integers(0, 9), st.integers(0, 40), st.integers(0, 2))
OPERATIONS = st.lists(OPERATION, max_size=40)
MOMENTS = st.tuples(st.none() | st.integers(0, 41), st.none() | st.integers(-1, 41))


def grown(operations: list[tuple[str, int, int, int]], **bounds: Any) -> Person:
    """A person by jobs and notes, some of which are retracted by the source that they came from."""
    person = Person(**bounds)
    jobs: list[tuple[str, int, int]] = []
    for number, (what, pick, on, source) in enumerate(operations):
        if what == "note":
            person.read(*note(f"note {pick}", f"p{number}", on), source=source)
        elif what == "job" or not jobs:
            jobs.append((f"e{number}", on, source))
            person.read(*job(f"J{pick}", f"e{number}", on), source=source)
        else:
            name, since, by = jobs[pick % len(jobs)]
            back = [each.model_copy(update={"op": "retract"}) for each in applied_of(person, name)]
            if what == "retract":
                person.read(*back, source=by, cause="correction")
                jobs.remove((name, since, by))
            else:
                person.read(*back, *job(f"J{pick}", name, since), source=by)
    return person


def applied_of(person: Person, event: str) -> list[Any]:
    return next(
        [one for one in contribution.changes if one.op == "apply"]
        for contribution in reversed(person.contributions)
        if any(one.source_id == event and one.op == "apply" for one in contribution.changes)
    )


def moment_of(days: tuple[int | None, int | None]) -> Moment:
    as_of, known_at = days
    return Moment(as_of=None if as_of is None else day(as_of), known_at=None if known_at is None else read_at(known_at))


@given(operations=OPERATIONS)
def test_all_steps_give_the_live_entity(operations: list[tuple[str, int, int, int]]) -> None:
    person = grown(operations)
    assert person.at(Moment()) == person.now()


@given(operations=OPERATIONS, days=MOMENTS)
def test_a_past_moment_excludes_later_entries(operations: list[tuple[str, int, int, int]], days: tuple[int | None, int | None]) -> None:
    person, moment = grown(operations), moment_of(days)
    assert person.at(moment) == person.of_old(moment)


@given(
    operations=st.lists(OPERATION, min_size=8, max_size=24),
    days=st.tuples(st.none() | st.integers(0, 41), st.none() | st.integers(0, 20)),
    kept=st.integers(1, 4),
)
def test_dropped_history_is_not_reported(
    operations: list[tuple[str, int, int, int]], days: tuple[int | None, int | None], kept: int
) -> None:
    person, moment = grown(operations, kept=kept, whole_every=1), moment_of(days)
    assert len(person.steps) <= kept * 3
    if beginning(person.known(), moment) is not None:
        assert person.at(moment) == person.of_old(moment)


def test_a_moment_before_the_history_is_unknown() -> None:
    person = Person(kept=2, whole_every=1)
    for number in range(5):
        person.read(*job(f"J{number}", f"e{number}", number))
    has_beginning = [beginning(person.known(), Moment(known_at=read_at(minute))) is not None for minute in range(5)]
    assert has_beginning == [False, False, True, True, True]
    assert [job_of(person.at(Moment(known_at=read_at(minute)))) for minute in (2, 3, 4)] == ["J2", "J3", "J4"]
    has_beginning = [beginning(person.known(), Moment(as_of=day(on))) is not None for on in range(5)]
    assert has_beginning == [False, False, True, True, True]


def test_the_beginning_includes_every_dropped_entry() -> None:
    """One partition has few steps, another many: the states in steps of the first lack steps of the other that are not kept."""
    person = Person(kept=2, whole_every=1)
    person.read(*job("A", "e-a", 9))
    person.read(*job("B", "e-b", 9))
    for number in range(5):
        person.read(*job(f"J{number}", f"e{number}", 10 + number), source=1)
    for moment in (Moment(known_at=read_at(1)), Moment(as_of=day(9)), Moment(known_at=read_at(3))):
        assert beginning(person.known(), moment) is None
    assert person.at(Moment(known_at=read_at(5))) == person.of_old(Moment(known_at=read_at(5)))


@given(operations=OPERATIONS, kept=st.integers(4, 12))
def test_the_newest_entry_is_found_despite_dropped_ones(operations: list[tuple[str, int, int, int]], kept: int) -> None:
    person = grown([(what, pick, on, 0) for what, pick, on, _ in operations], kept=kept, whole_every=kept // 4)
    assert person.at(Moment()) == person.now()
    steps = person.walk()
    assert not steps or steps[-1].contribution == person.contributions[-1]


def test_places_of_a_former_number_are_left_out() -> None:
    person = Person(kept=3, whole_every=1)
    for number in range(7):
        person.read(*job(f"J{number}", f"e{number}", number))
    person.kept = 2
    for number in range(7, 10):
        person.read(*job(f"J{number}", f"e{number}", number))
    numbers = [each.step.number for each in person.known()]
    assert numbers == list(range(numbers[0], 11))
    assert person.at(Moment()) == person.now()


def test_a_models_answer_counts_from_when_it_was_known() -> None:
    """After a statement that was left out, the rule merges the text: the answer may be based on that statement."""
    merging = entity_type()

    def step(number: int, minute: int, **fields: Any) -> HistoryEntry:
        contribution = Contribution(
            tenant="acme",
            entity_type="profile",
            entity_key="ann",
            source="extractions/0",
            position=number,
            recorded_at=read_at(minute),
            **{"time": day(9), **fields},
        )
        return HistoryEntry(
            id=str(number), tenant="acme", entity="e", number=0 if "merged" in fields else number, contribution=contribution
        )

    outcome = {
        "number": 1,
        "count": 2,
        "sources": {"extractions/0": [2, []]},
        "settled": "Ann moved from Oslo to Rome.",
        "recent": [],
        "text": "Ann moved from Oslo to Rome.",
        "by": "a-model",
        "superseded": [],
        "unasked": False,
    }
    steps = in_order(
        [
            step(3, 3, kind="merged", merged=Merged(property=STORY, outcome=outcome)),
            step(1, 1, changes=said("e1", "Lives in Oslo.", day=1)),
            step(2, 2, changes=said("e2", "Lives in Rome.", day=5)),
        ]
    )

    def story(moment: Moment) -> str:
        start = beginning(steps, moment)
        assert start is not None
        replay = HistoryReplay(start, moment, lambda _: merging)
        for each in start.steps:
            replay.take(each)
        replay.finish(day(10))
        assert replay.state is not None
        return str(render(replay.state, merging, "acme", "ann").properties[STORY])

    assert story(Moment()) == "Ann moved from Oslo to Rome."
    assert "Rome" not in story(Moment(as_of=said("x", "y", day=3)[0].event_time))
    by_rule = story(Moment(known_at=read_at(2)))
    assert "Lives in Oslo." in by_rule
    assert "Lives in Rome." in by_rule


def test_the_name_of_an_answer_identifies_it() -> None:
    def answer(minute: int, part: str = "") -> str:
        contribution = Contribution(
            tenant="acme",
            entity_type="profile",
            entity_key="ann",
            kind="merged",
            source="merges/0",
            position=0,
            merged=Merged(property=STORY, part=part, outcome={}),
            time=day(1),
            recorded_at=day(2) + timedelta(minutes=minute),
        )
        return name_of(HistoryEntry(id="place", tenant="acme", entity="e", number=0, contribution=contribution))

    names = [answer(7), answer(8), answer(8, "2024-W05")]
    assert names == ["merged/story@2024-01-03T00:07:00Z", "merged/story@2024-01-03T00:08:00Z", "merged/story/2024-W05@2024-01-03T00:08:00Z"]


def test_a_removed_field_does_not_end_in_a_history() -> None:
    person = Person()
    person.read(*job("A", "e-a", MARCH))
    person.read(*job("B", "e-b", JUNE)[1:])
    without = replace(PERSON, properties=PERSON.properties[1:])
    walk = HistoryWalk(Beginning(()), Moment(), lambda made: without if made.position else PERSON, former=[without, PERSON])
    for each in person.known():
        walk.take(each)
    assert [each.after for each in walk.finish()] == [{"job": "A", "jobs": 1}, {"jobs": 2}]
