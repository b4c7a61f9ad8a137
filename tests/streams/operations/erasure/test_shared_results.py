"""Other users' extractions of shared windows: an erasure finds those that may quote the erased user, and what takes their place."""

from memory.headers import CORRECTION, KIND, RETRACTION
from memory.records import Correction, EventFields, EventSeen, MessageRetraction
from memory.records.base import Record
from streams.operations.erasure.shared_results import SharedResults, Superseded, without_texts
from tests.streams.agent_extractions import START, TENANT
from tests.streams.operations.erasure.shared_window import PART, USER, retraction, shared


def correction(content: str, *messages: str) -> Correction:
    seen = EventSeen(window_id=PART, type="tool_use", content=content, message_ids=list(messages))
    return Correction(
        id="c1", tenant=TENANT, user=USER, action="invalidate", memory_id="e1", event=seen, fields=EventFields(), by="k1", time=START
    )


def gathered(**records: Record) -> SharedResults:
    """The results from records, by key, in order."""
    kinds: dict[type[Record], bytes] = {MessageRetraction: RETRACTION, Correction: CORRECTION}
    results = SharedResults({PART: USER})
    for key, each in records.items():
        headers = ((KIND, kinds[type(each)]),) if type(each) in kinds else ()
        results.add(key.encode(), each.to_json(), headers)
    return results


def superseded(results: SharedResults) -> list[Superseded]:
    return [each for part, each in results.superseded() if part == PART]


def test_earlier_revisions_than_the_erasure_are_superseded() -> None:
    first, edited, last = (shared(number, {"used grep": ["m1", "m2"]}) for number in range(3))
    results = gathered(k0=first, k1=edited, r=retraction(2, "m2"), k2=last)
    assert [(each.key, each.extraction, each.in_force, each.is_replaced) for each in superseded(results)] == [
        (b"k0", first, last, True),
        (b"k1", edited, last, True),
    ]
    assert superseded(results)[0].messages == {"m2"}
    assert [results.is_superseded(each) for each in (first, edited, last)] == [True, True, False]
    assert results.may_quote == 0


def test_edits_supersede_no_results() -> None:
    results = gathered(k0=shared(0, {"used grep": ["m1"]}), r=retraction(1, "m1", is_erasure=False), k1=shared(1, {}))
    assert superseded(results) == []


def test_other_windows_and_removed_records_do_not_count() -> None:
    elsewhere = shared(0, {"used grep": ["m1"]}).model_copy(update={"window_id": "another"})
    results = gathered(k0=shared(0, {"used grep": ["m1"]}), k1=elsewhere, r=retraction(1, "m2"), k2=shared(1, {}))
    results.add(b"k0", None, ())
    results.add(b"k9", b"{", ())
    assert superseded(results) == []
    assert results.users == {USER}


def test_an_extraction_that_nothing_has_replaced_loses_texts() -> None:
    """Its window is parked, or its generation is not extracted any more."""
    old = shared(0, {"used grep": ["m1"], "both did": ["m1", "m2"]}, extractor="llm:m")
    results = gathered(k0=shared(0, {"earlier": ["m1"]}), k1=old, v2=shared(0, {}, generation="v2"), r=retraction(1, "m2"))
    first, second, other = superseded(results)
    assert (first.key, first.is_replaced) == (b"k0", True)
    assert (second.key, second.is_replaced, second.in_force) == (b"k1", False, without_texts(old, frozenset({"m2"})))
    assert [(each.content, each.search_text, each.message_ids) for each in second.in_force.events] == [("used grep", None, ["m1"])]
    assert second.in_force.segments == []
    assert (other.key, other.is_replaced) == (b"v2", False)
    assert results.may_quote == 1, "a model has worded what stays"
    results.add(b"k1", second.in_force.to_json(), ())
    assert [each.key for each in superseded(results)] == [b"k0", b"v2"], "it is written once"
    assert results.may_quote == 1


def test_a_correction_of_an_erased_message_is_removed() -> None:
    results = gathered(k0=shared(0, {"both did": ["m1", "m2"]}), c=correction("both did", "m1", "m2"), r=retraction(1, "m2"))
    assert [*results.corrections()] == [(USER, b"c", None)]


def test_a_correction_follows_the_new_wording() -> None:
    before, after = "used grep to find all files as ann said", "used grep to find all files"
    newest = shared(1, {after: ["m1"]})
    said: dict[str, Record] = {"k0": shared(0, {before: ["m1"]}), "r": retraction(1, "m2"), "k1": newest}
    ((_, key, again),) = gathered(**said, c=correction(before, "m1")).corrections()
    assert key == b"c"
    assert again is not None
    assert again.event is not None
    assert (again.id, again.event.content, again.memory_id) == ("c1", after, newest.events[0].id)
    assert [*gathered(**said, c=correction(after, "m1")).corrections()] == [], "it quotes nobody"
    gone: dict[str, Record] = {**said, "k1": shared(1, {})}
    assert [*gathered(**gone, c=correction(before, "m1")).corrections()] == [(USER, b"c", None)]
