"""A context keeps its fence, its number of tokens and its order, whatever is recalled."""

import time
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.records import Memory, Message, ToolCall
from memory.texts.text import estimate_tokens
from retrieval.context import MIN_TOKENS, Context, pack
from retrieval.prompt_delimiter import PromptDelimiter
from retrieval.request import RecallHit
from stores.port import TenantScope
from tests.stores.factories import NOON, memory, stable_id

ANN = TenantScope("acme", "ann")
MARK = PromptDelimiter(ANN).preface.removeprefix("The notes between the two lines with ")[:8]


def hit(
    content: str,
    *,
    day: int = 0,
    message_ids: tuple[str, ...] = ("m1",),
    id: str | None = None,
    kind: str = "event",
    said: str | None = None,
    session: str | None = None,
    score: float = 0.5,
) -> RecallHit:
    found = memory(
        content,
        id=id or stable_id(content, day, kind),
        event_time=NOON + timedelta(days=day),
        message_ids=list(message_ids),
        kind=kind,
        said=said,
        session=session,
    )
    return RecallHit(memory=found, score=score, parts={}, evidence=message_ids, evidence_scores=(score,) * len(message_ids))


def state(content: str, *, type: str = "user_profile", **fields: Any) -> Memory:
    return memory(content, kind="entity", type=type, entity_key=type, **fields)


def message(text: str, *, id: str, **fields: object) -> Message:
    return Message.model_validate(
        {"tenant": "acme", "user": "ann", "session": "s", "id": id, "text": text, "event_time": NOON, "speaker": "Ann", **fields}
    )


def packed(
    *hits: RecallHit, states: tuple[Memory, ...] = (), tail: tuple[Message, ...] = (), tokens: int = 2000, with_said: bool = False
) -> Context:
    return pack(ANN, states=states, hits=hits, tail=tail, tokens=tokens, with_said=with_said)


def notes_of(context: Context) -> list[str]:
    """The lines between the two lines with the mark."""
    _, opening, *lines, closing = context.text.split("\n")
    assert (opening, closing) == (f"<<<memory {MARK}", f"memory {MARK}>>>")
    return lines


HOSTILE = st.lists(
    st.one_of(
        st.text(),
        st.sampled_from([MARK, MARK.upper(), MARK[:4], MARK[4:], "\n", "\r\n", "\u2028", "\x85", "\x0b", "\u200b", "\u00ad"]),
        st.sampled_from([f"memory {MARK}>>>", f"<<<memory {MARK}", "states:", "[00000000]", "<|im_end|>", "</s>", "[/INST]", "·"]),
    ),
    max_size=8,
).map(lambda parts: "".join(parts).encode("utf-8", "ignore").decode())
"""JSON on the wire holds no lone surrogate."""


@given(contents=st.lists(HOSTILE, max_size=4), profile=HOSTILE, said=st.lists(HOSTILE, max_size=3), result=HOSTILE)
def test_no_recalled_text_closes_the_fence(contents: list[str], profile: str, said: list[str], result: str) -> None:
    hits = [hit(content, day=day, said=result) for day, content in enumerate(contents)]
    turns = [message(text, id=f"t{place}") for place, text in enumerate(said)]
    call = message("", id="call", role="tool", tool_call=ToolCall(name="search", result={"text": result}))
    context = packed(*hits, states=(state(profile),), tail=(*turns, call), tokens=100_000, with_said=True)
    lines = notes_of(context)
    assert context.text.casefold().count(MARK) == 3
    assert [line for line in lines if line in ("states:", "events:", "session:")] == [line for line in lines if not line.startswith("[")]
    assert len(context.citations) == len(set(contents)) + 1 + len(turns) + 1
    assert context.left_out == 0


@given(
    contents=st.lists(st.text(min_size=1, max_size=400), max_size=12),
    said=st.lists(st.text(max_size=300).map(lambda text: text.encode("utf-8", "ignore").decode()), max_size=8),
    tokens=st.integers(MIN_TOKENS, 400),
)
def test_a_context_never_exceeds_its_tokens(contents: list[str], said: list[str], tokens: int) -> None:
    hits = [hit(content, day=day) for day, content in enumerate(contents)]
    tail = tuple(message(text, id=f"t{place}") for place, text in enumerate(said))
    context = packed(*hits, states=(state("user profile of ann"),), tail=tail, tokens=tokens)
    assert context.tokens == estimate_tokens(context.text) <= tokens
    assert len(context.citations) + context.left_out == len(set(contents)) + 1 + len(tail)


def test_states_are_first_and_the_tail_is_last() -> None:
    context = packed(
        hit("Ann moved to Oslo", day=3),
        hit("Ann left Rome", day=1),
        hit("Spring in Oslo", day=2, kind="summary"),
        states=(state("home: Oslo"), state("mood: fine", type="recent_mood")),
        tail=(message("It snows", id="t1"), message("Still", id="t2")),
    )
    assert [line.split("] ")[-1] for line in notes_of(context)] == [
        "states:",
        "2024-05-06 mood: fine",
        "2024-05-06 home: Oslo",
        "summaries:",
        "2024-05-08 Spring in Oslo",
        "events:",
        "2024-05-07 Ann left Rome",
        "2024-05-09 Ann moved to Oslo",
        "session:",
        "2024-05-06 Ann: It snows",
        "2024-05-06 Ann: Still",
    ]


def test_an_event_is_dated_with_its_known_precision() -> None:
    known = [hit("Ann moved")._replace(memory=memory("Ann moved", date=date)) for date in ("2024-05", "2024-05-01/2024-05-07", "unknown")]
    lines = [line.split("] ")[-1] for each in known for line in notes_of(packed(each))[1:]]
    assert lines == ["2024-05 Ann moved", "2024-05-01 to 2024-05-07 Ann moved", "some day (said 2024-05-06) Ann moved"]


def test_a_note_is_dated_among_the_events() -> None:
    note = memory("Ann moved", kind="entity", type="note", entity_key="e1", date="2024-05", properties={"event": "e1", "window": "w1"})
    lines = notes_of(packed(hit("Ann left", day=-9), states=(note, state("home: Oslo"))))
    assert [line.split("] ")[-1] for line in lines] == [
        "states:",
        "2024-05-06 home: Oslo",
        "events:",
        "2024-04-27 Ann left",
        "2024-05 Ann moved",
    ]


def test_a_quoted_event_shows_its_speaker_and_time() -> None:
    said_at = NOON + timedelta(days=1)
    fields: dict[str, Any] = {"speaker": "Ann", "said_at": said_at, "search_text": "Ann (7 May 2024): Ann moved yesterday (6 May 2024)."}
    same_day = hit("I live here now.")._replace(memory=memory("I live here now.", speaker="Bo", said_at=NOON))
    day_before = hit("x")._replace(memory=memory("I moved yesterday.", date="2024-05-06", **fields))
    undated = hit("x")._replace(memory=memory("I moved once.", date="unknown", **fields))
    lines = [notes_of(packed(each))[-1].split("] ")[-1] for each in (same_day, day_before, undated)]
    assert lines == [
        "2024-05-06 Bo: I live here now.",
        "2024-05-07 Ann: I moved yesterday. (happened: 2024-05-06)",
        "2024-05-07 Ann: I moved once.",
    ]


def test_another_query_keeps_the_beginning_of_the_context() -> None:
    states = (state("home: Oslo"), state("mood: fine", type="recent_mood"))
    first = packed(hit("Ann moved to Oslo", day=3), states=states, tail=(message("It snows", id="t1"),))
    second = packed(hit("Ann has a cat", day=4), hit("Ann moved to Oslo", day=3), states=states[::-1])
    front = first.text.index("[", first.text.index("events:"))
    assert second.text[:front] == first.text[:front]
    assert first.text[: first.text.index("session:")].removesuffix("\n") in second.text


def test_every_note_is_cited_with_its_evidence() -> None:
    event = hit("Ann moved to Oslo", message_ids=("m7", "m3"))
    context = packed(event, tail=(message("It snows", id="t1"),))
    for citation, note in zip(context.citations, context.notes, strict=True):
        assert note.startswith(f"[{citation.mark}] ")
        assert note in notes_of(context)
    assert [(each.id, each.kind, each.evidence) for each in context.citations] == [
        (event.memory.id, "event", ("m7", "m3")),
        ("t1", "message", ("t1",)),
    ]


def test_the_original_words_follow_their_event() -> None:
    hits = (hit("Ann has a new home", said="Ann (6 May 2024): Ann moved to Oslo."), hit("Ann moved by train", day=1))
    shown_notes = notes_of(packed(*hits, with_said=True))
    assert [line.split("] ", 1)[1] for line in shown_notes[1:]] == [
        "2024-05-06 Ann has a new home (said: Ann (6 May 2024): Ann moved to Oslo.)",
        "2024-05-07 Ann moved by train",
    ]
    assert "said:" not in packed(*hits).text


def test_the_best_events_get_the_tokens() -> None:
    hits = [hit(f"{'word ' * 30}{number}", day=number) for number in (5, 1, 4, 2)]
    context = packed(*hits, tokens=MIN_TOKENS + 60)
    assert [each.id for each in context.citations] == [hits[0].memory.id]
    assert context.left_out == 3


def test_a_note_too_long_makes_way() -> None:
    long, short = hit("word " * 500), hit("Ann moved to Oslo")
    assert [each.id for each in packed(long, short, tokens=200).citations] == [short.memory.id]


def test_a_message_far_too_long_is_not_cleaned() -> None:
    began = time.process_time()
    context = packed(hit("Ann likes tea."), tail=(message("<" * 1_000_000, id="t0"),), tokens=500)
    assert time.process_time() - began < 0.3
    assert "Ann likes tea." in context.text
    assert context.left_out == 1


def test_the_newest_messages_are_kept() -> None:
    tail = tuple(message("word " * 20 + str(number), id=f"t{number}") for number in range(9))
    kept = [each.id for each in packed(tail=tail, tokens=250).citations]
    assert kept == [f"t{number}" for number in range(9)][-len(kept) :]
    assert 0 < len(kept) < 9


def test_events_repeating_the_tail_are_added_last() -> None:
    said = hit("Ann said that it snows", message_ids=("t1",))
    other = hit(f"Ann moved to Oslo {'in spring ' * 40}", message_ids=("m1",))
    tail = (message("It snows", id="t1"),)
    whole = packed(said, other, tail=tail)
    assert {said.memory.id, other.memory.id} <= {each.id for each in whole.citations}
    tight = packed(said, other, tail=tail, tokens=whole.tokens - 1)
    assert other.memory.id in {each.id for each in tight.citations}
    assert said.memory.id not in {each.id for each in tight.citations}


def test_a_tail_replaces_only_messages_of_its_session() -> None:
    first = hit("Ann moved to Oslo", message_ids=("1",), session="before")
    second = hit("Ann likes the harbour of Oslo very much", message_ids=("2",), session="s")
    tail = (message("It snows", id="1"), message("I like the harbour", id="2"))
    best = hit(f"Ann looks for a flat {'in spring ' * 60}", message_ids=("m1",))
    whole = packed(best, second, first, tail=tail)
    tight = packed(best, second, first, tail=tail, tokens=whole.tokens - 1)
    assert {each.id for each in whole.citations} - {each.id for each in tight.citations} == {second.memory.id}


def test_recalled_text_in_the_tail_is_skipped() -> None:
    tail = (message("Notes: Ann lives in Oslo", id="t1", from_recall=True), message("It snows", id="t2"))
    assert [each.id for each in packed(tail=tail).citations] == ["t2"]


def test_a_state_among_the_hits_is_shown_once() -> None:
    profile = state("home: Oslo")
    found = RecallHit(memory=profile, score=0.9, parts={}, evidence=("m1",), evidence_scores=(0.9,))
    assert [each.id for each in packed(found, states=(profile,)).citations] == [profile.id]


def test_nothing_found_is_an_empty_text() -> None:
    assert packed() == Context("", 0, (), (), 0)


def test_each_user_has_its_own_fence() -> None:
    prefaces = {
        PromptDelimiter(scope).preface for scope in (ANN, TenantScope("acme", "bob"), TenantScope("acme"), TenantScope("umbrella", "ann"))
    }
    assert len(prefaces) == 4
    assert PromptDelimiter(TenantScope("acme", "ann")).preface == PromptDelimiter(ANN).preface


def test_too_few_tokens_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 100 tokens"):
        packed(tokens=99)


def test_many_states_of_a_type_crowd_out_no_other() -> None:
    moods = [memory(f"mood in week {week}: calm and quite content", kind="entity", type="mood", entity_key=f"{week}") for week in range(9)]
    profile = state("profile of ann: lives in Oslo")
    context = packed(*(hit(f"a fact of some length, number {day}", day=day) for day in range(40)), states=(*moods, profile), tokens=400)
    lines = "\n".join(notes_of(context))
    assert profile.content in lines
    assert moods[0].content in lines
    assert moods[8].content not in lines


def test_states_leave_most_tokens_to_events() -> None:
    states = tuple(memory(f"state of thing {number}: as it was", kind="entity", type=f"t{number}", entity_key="k") for number in range(60))
    context = packed(*(hit(f"a fact of some length, number {day}", day=day) for day in range(60)), states=states, tokens=1000)
    taken = sum(estimate_tokens(line) for line, citation in zip(context.notes, context.citations, strict=True) if citation.kind == "entity")
    assert 100 < taken <= 200
    alone = packed(states=states, tokens=1000)
    assert len(alone.citations) > 2 * sum(each.kind == "entity" for each in context.citations), "they may use the rest of the budget, too"


def test_a_line_names_its_day_once() -> None:
    (event,) = notes_of(packed(hit("Mood (6 May 2024): Ann feels proud.")))[1:]
    assert event.endswith("] 2024-05-06 Mood: Ann feels proud.")
    (other,) = notes_of(packed(hit("She moved (5 May 2024) to Oslo.")))[1:]
    assert other.endswith("] 2024-05-06 She moved (5 May 2024) to Oslo.")


def test_similar_calls_of_a_tool_share_a_line() -> None:
    calls = [
        hit("run_tests failed after 31 ms (6 May 2024); error: timeout", message_ids=("m1",)),
        hit("run_tests failed after 9.5 ms (8 May 2024); error: timeout", day=2, message_ids=("m2",)),
        hit("run_tests failed after 7 ms (7 May 2024); error: refused", day=1, message_ids=("m3",)),
    ]
    context = packed(*calls)
    refused, timeout = notes_of(context)[1:]
    assert timeout.endswith("] 2024-05-08 run_tests failed after 9.5 ms; error: timeout (2 times since 2024-05-06)")
    assert refused.endswith("] 2024-05-07 run_tests failed after 7 ms; error: refused")
    assert (context.citations[1].id, context.citations[1].evidence, context.left_out) == (calls[1].memory.id, ("m2", "m1"), 0)


def test_words_of_people_stay_alone() -> None:
    said = [
        memory(
            "I ran 5 km.",
            id=stable_id("run", day),
            event_time=NOON + timedelta(days=day),
            said_at=NOON + timedelta(days=day),
            speaker="Ann",
        )
        for day in range(3)
    ]
    hits = [RecallHit(memory=each, score=0.5, parts={}, evidence=("m",), evidence_scores=(0.5,)) for each in said]
    assert len(notes_of(packed(*hits))) == 1 + 3


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        (
            "life story of ann: life: 8 events in full / 2024-W11, 3 events: Ann: Hi.; moods: 2",
            "life: 2024-W11, 3 events: Ann: Hi.; moods: 2",
        ),
        ("life story of ann: life: 8 events in full; moods: 2", "ann: moods: 2"),
        ("life story of ann: moods: 2; life: 8 events in full", "ann: moods: 2"),
        ("life story of ann: life: 8 events in full", None),
        ("notes of ann: text: 8 events in full", "notes of ann: text: 8 events in full"),
    ],
)
def test_a_state_leaves_out_timeline_sizes(content: str, shown: str | None) -> None:
    timeline = {} if content.startswith("notes") else {"life": "8 events in full\n2024-W11, 3 events: Ann: Hi."}
    context = packed(states=(memory(content, kind="entity", type="life_story", entity_key="ann", properties=timeline),))
    assert context.text == "" if shown is None else notes_of(context)[1].endswith(shown)


def test_weak_events_are_left_out_despite_space() -> None:
    strong = [hit(f"Strong {place}", score=0.5 - place / 100) for place in range(10)]
    near, far = hit("Near", score=0.02), hit("Far", score=0.009)
    linked = hit("Linked", score=0.001)._replace(path="links")
    text = packed(*strong, near, far, linked).text
    assert ("Near" in text, "Far" in text, "Linked" in text) == (True, False, True)


def test_few_events_are_all_shown() -> None:
    text = packed(hit("Strong", score=0.9), *(hit(f"Weak {place}", score=0.001) for place in range(9))).text
    assert "Weak 8" in text


def test_an_event_stays_unless_its_entity_is_shown() -> None:
    told = hit("The team chose Postgres.", message_ids=("m1",))._replace(repeated_by="report")
    report = state(
        "weekly report: decided: The team chose Postgres.", properties={"decided": ["The team chose Postgres."]}, message_ids=["m1"]
    )
    shown = pack(ANN, states=(report,), hits=(told,), tail=(), tokens=1000)
    assert shown.text.count("chose Postgres") == 1
    long = report.model_copy(update={"content": report.content + " and more" * 200})
    crowded = pack(ANN, states=(long,), hits=(told,), tail=(), tokens=400)
    assert [line.split("] ")[-1] for line in notes_of(crowded)] == ["events:", "2024-05-06 The team chose Postgres."]


def test_states_of_figures_come_after_words() -> None:
    counts = state("workload: tasks: " + "1" * 200, type="workload", properties={"owner": "workload", "tasks": 3})
    words = state("topic: status: " + "x" * 200, type="topic", properties={"topic": "topic", "status": "done"})
    text = packed(states=(counts, words), tokens=250).text
    assert ("status" in text, "tasks" in text) == (True, False)


def test_space_left_goes_to_the_nearest_of_each_type() -> None:
    states = tuple(state(f"topic {place} " + "x" * 150, type="topic", properties={"status": "open"}) for place in range(6))
    states = tuple(
        each.model_copy(update={"id": stable_id("topic", place), "entity_key": f"t{place}"}) for place, each in enumerate(states)
    )
    text = packed(hit("Ann moved"), states=states, tokens=500).text
    assert ("topic 0" in text, "topic 5" in text) == (True, False)


def test_an_unsupported_memory_is_shown_as_unconfirmed() -> None:
    invented = hit("Ann inherited a yacht", said="Nice boat")
    invented = invented._replace(memory=invented.memory.model_copy(update={"unsupported": 1}))
    text = packed(invented, hit("Ann moved"), states=(state("life events: 9", unsupported=2),), with_said=True).text
    assert "Ann inherited a yacht (unconfirmed) (said: Nice boat)" in text
    assert "life events: 9 (partly unconfirmed)" in text
    assert text.count("unconfirmed") == 2


@pytest.mark.parametrize(
    ("date", "speaker", "shown"),
    [
        ("2024-05-10", None, "2024-05-10 Ann flies to Rome (said 2024-05-06)"),
        ("2024-05-01", None, "2024-05-01 Ann flies to Rome"),
        ("2024-05-10", "Ann", "2024-05-06 Ann: Ann flies to Rome (for: 2024-05-10)"),
        ("2024-05-01", "Ann", "2024-05-06 Ann: Ann flies to Rome (happened: 2024-05-01)"),
    ],
)
def test_an_announcement_is_no_event_of_its_day(date: str, speaker: str | None, shown: str) -> None:
    day = int(date[-2:]) - 6
    found = hit("Ann flies to Rome", day=day)
    found = found._replace(memory=found.memory.model_copy(update={"date": date, "speaker": speaker, "said_at": NOON}))
    assert [line.split("] ")[-1] for line in notes_of(packed(found))] == ["events:", shown]


def test_the_first_state_may_take_more() -> None:
    profile = state("profile " + "x" * 780, properties={"home": "Oslo"})
    events = [hit(f"Event {place} " + "y" * 100, score=0.5 - place / 100) for place in range(20)]
    assert "profile" in packed(*events, states=(profile,), tokens=600).text
    assert "profile" not in packed(*events, states=(profile,), tokens=400).text


def test_no_farther_state_replaces_a_nearer_one() -> None:
    home = state("home: Oslo", properties={"home": "Oslo"})
    near = state("tool near " + "x" * 900, type="tool", properties={"advice": "a"})
    far = near.model_copy(update={"id": stable_id("far"), "content": "tool far", "entity_key": "far"})
    events = [hit(f"Event {place} " + "y" * 100, score=0.5 - place / 100) for place in range(20)]
    text = packed(*events, states=(home, near, far), tokens=600).text
    assert ("home" in text, "tool near" in text, "tool far" in text) == (True, False, False)
