"""``python -m evaluation facts``: the shipped set is valid, and the scorer finds a wrong extractor."""

import argparse
import asyncio
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import orjson
import pytest
from pydantic import JsonValue

from evaluation.errors import DataSetError
from evaluation.facts import command
from evaluation.facts.command import stored_of
from evaluation.facts.items import CONVERSATIONS, SHIPPED, Item, read_items
from evaluation.facts.scoring import Count, Stored, StoredEvent, StoredFact, report_of, score
from extraction.assemble import build_extraction
from extraction.drafts import Draft, EventDraft, PatchDraft
from extraction.port import ExtractionContext
from loadtest.llm_simulator import LLMSimulator
from memory.keys import entity_key
from memory.records import Extraction, Window
from memory.schema import MemorySchema

UNCHECKED = dict.fromkeys(("clean", "types", "properties", "typed"))
SAID_AT = datetime(2024, 5, 6, 18, tzinfo=UTC)


def item_of(*texts: str, **fields: object) -> Item:
    messages = [{"role": "user", "speaker": "Orla", "text": text, "event_time": SAID_AT.isoformat()} for text in texts]
    return Item.model_validate({"id": "one", "kind": "home", "is_trap": False, "user": "orla", "messages": messages} | fields)


def fact(field: str, *values: str, negative: bool | None = None) -> dict[str, object]:
    return {"entity": "user_profile", "field": field, "values": values, "negative": negative}


def stored(field: str, value: str) -> Stored:
    return Stored(facts=(StoredFact("user_profile", field, value),))


def recorded(*contents: str) -> Stored:
    return Stored(events=tuple(StoredEvent(each) for each in contents))


def rights(counts: dict[str, Count]) -> dict[str, tuple[int, int]]:
    return {name: (count.right, count.of) for name, count in counts.items() if count.of}


class PatchingExtractor:
    """Stores a fixed home for each message, and the message itself as an event."""

    name = "patching"

    def __init__(self, *homes: str) -> None:
        self._homes = homes
        self.known: list[str] = []

    def edited_entities(self, window: Window, schema: MemorySchema) -> None:
        """Unknown."""

    async def extract(self, window: Window, schema: MemorySchema, context: ExtractionContext) -> Extraction:
        self.known += [str(each.properties["home"]) for each in context.entities if "home" in each.properties]
        home = self._homes[len(self._homes) - 1 if window.session != "s1" else 0]
        patch = PatchDraft(
            entity_type="user_profile",
            entity_key=entity_key(window.user),
            field="home",
            search=self.known[-1] if self.known else "",
            replace=home,
            messages=(0,),
            event_time=SAID_AT,
        )
        events = tuple(
            EventDraft(
                type="fact",
                content=each.text,
                properties={},
                importance=0.5,
                keywords=(),
                segment=None,
                messages=(index,),
                event_time=SAID_AT,
                date=None,
                said_at=SAID_AT,
            )
            for index, each in enumerate(window.messages)
        )
        draft = Draft(segments=(), events=events, patches=(patch,))
        return build_extraction(draft, window=window, schema=schema, extractor=self.name, generation="", usage=())

    async def close(self) -> None:
        return None


@pytest.fixture(scope="module")
def shipped() -> list[Item]:
    return read_items(SHIPPED)


def test_shipped_set_is_large_varied_and_balanced(shipped: list[Item]) -> None:
    kinds = Counter(each.kind for each in shipped)
    assert len(shipped) >= 400
    assert len(kinds) >= 40
    assert min(kinds.values()) >= 6
    assert 0.4 <= sum(each.is_trap for each in shipped) / len(shipped) <= 0.6
    assert len({each.is_trap for each in shipped if each.kind == kinds.most_common()[0][0]}) == 1


def test_shipped_conversations_are_mostly_traps() -> None:
    conversations = read_items(CONVERSATIONS)
    assert len({each.kind for each in conversations}) >= 15
    assert sum(each.is_trap for each in conversations) > len(conversations) / 2
    assert sum(len(each.messages) > 1 for each in conversations) > len(conversations) / 2


def test_shipped_items_never_repeat_a_text(shipped: list[Item]) -> None:
    texts = Counter(" / ".join(message.text.casefold() for message in each.messages) for each in shipped)
    assert [text for text, count in texts.items() if count > 1] == []


def test_shipped_items_all_expect_something(shipped: list[Item]) -> None:
    plain = [each for each in shipped if not each.is_trap]
    assert [each.id for each in plain if not (each.expected or each.in_events)] == []
    assert sum(len(each.expected) for each in plain) >= 100


def test_expected_words_occur_in_the_messages(shipped: list[Item]) -> None:
    everything = {each.id: recorded(" ".join(message.text for message in each.messages)) for each in shipped if each.in_events}
    wrong = [problem for each in shipped if each.id in everything for problem in score(each, everything[each.id])["in_events"].wrong]
    assert wrong == []


def test_perfect_extraction_of_the_set_scores_one(shipped: list[Item]) -> None:
    scored = []
    for each in shipped:
        facts = tuple(
            StoredFact(wanted.entity, wanted.field, f"{'dislikes ' if wanted.negative else ''}{wanted.values[0]}")
            for wanted in each.expected
        )
        counts = score(each, Stored(facts=facts))
        scored.append((each, {name: counts[name] for name in ("true", "found")}))
    figures = {name: sum(counts[name].right for _, counts in scored) for name in ("true", "found")}
    # A pattern is the beginning of a word, so a value made of patterns alone may have words that nobody said.
    assert figures["found"] == sum(counts["found"].of for _, counts in scored)
    assert figures["true"] == sum(counts["true"].of for _, counts in scored)


@pytest.mark.parametrize(
    ("field", "value", "is_true"),
    [
        ("home", "Bergen", True),
        ("home", "bergen, Norway", True),
        ("home", "Bergen with my brother", False),
        ("home", "Oslo", False),
        ("name", "Bergen", False),
        ("preferences", "likes hiking", True),
        ("preferences", "dislikes hiking", False),
        ("preferences", "doesn't like hiking", False),
        ("preferences", "likes hiking but I hate tents", False),
        ("preferences", "likes hiking in Peru", False),
        ("preferences", "allergic to wool", True),
        ("preferences", "likes wool", False),
    ],
)
def test_a_stored_value_is_true_or_false(field: str, value: str, is_true: bool) -> None:
    item = item_of(
        "I live in Bergen, Norway, with my brother. I like hiking but I hate tents. I'm allergic to wool.",
        expected=[fact("home", "bergen (norway)"), fact("preferences", "hik", negative=False), fact("preferences", "wool", negative=True)],
    )
    counts = score(item, stored(field, value))
    assert rights(counts)["true"] == (int(is_true), 1)
    assert rights(counts)["found"] == (int(is_true), 3)


def test_allowed_facts_are_true_but_not_missed() -> None:
    item = item_of("We keep kosher.", allowed=[fact("preferences", "kosher")])
    assert rights(score(item, stored("preferences", "keeps kosher"))) == {"true": (0, 1)}
    assert rights(score(item, stored("preferences", "kosher"))) == {"true": (1, 1)}
    assert rights(score(item, Stored())) == {}


def test_an_allergy_may_be_worded_in_other_words() -> None:
    item = item_of("I have a wasp allergy.", expected=[fact("preferences", "wasp", negative=True)])
    assert rights(score(item, stored("preferences", "allergic to wasp"))) == {"true": (1, 1), "found": (1, 1)}
    assert rights(score(item, stored("preferences", "allergic to wasp and bees")))["true"] == (0, 1)


def test_a_forbidden_word_makes_a_value_false() -> None:
    item = item_of("I like dogs, not cats.", expected=[fact("preferences", "dog")], forbidden=["cat"])
    assert rights(score(item, stored("preferences", "likes dogs, not cats"))) == {"true": (0, 1), "found": (1, 1)}


def test_events_are_checked_by_words_and_text() -> None:
    item = item_of("My uncle has Type I diabetes.", in_events=["uncle diabet"], verbatim=["Type I"])
    whole = recorded("My uncle has Type I diabetes.")
    changed = recorded("My uncle has Type Orla diabetes.")
    parts = recorded("My uncle.", "Type I", "diabetes")
    assert rights(score(item, whole))["in_events"] == (2, 2)
    assert rights(score(item, changed))["in_events"] == (1, 2)
    assert rights(score(item, parts))["in_events"] == (1, 2)


def test_fillers_and_binary_data_must_leave_no_event() -> None:
    assert rights(score(item_of("ok", no_event=True), recorded("ok")))["clean"] == (0, 1)
    picture = item_of("Look: aGVsbG8gd29ybGQ=", not_in_events=["aGVsbG8"])
    assert rights(score(picture, recorded("Look: [image]")))["clean"] == (1, 1)
    assert rights(score(picture, recorded("Look: aGVsbG8gd29ybGQ=")))["clean"] == (0, 1)


async def test_patches_pass_the_entity_operators() -> None:
    messages = [
        {"role": "user", "speaker": "Orla", "text": text, "event_time": SAID_AT.isoformat(), "session": session}
        for text, session in (("I live in Graz.", "s1"), ("I live in Linz now.", "s2"))
    ]
    item = item_of(messages=messages)
    extractor = PatchingExtractor("Graz", "Linz")
    assert await stored_of(item, extractor) == Stored(
        facts=(StoredFact("user_profile", "home", "Linz"),), events=recorded("I live in Graz.", "I live in Linz now.").events
    )
    assert extractor.known == ["Graz"]


async def test_a_wrong_extractor_is_marked_wrong(shipped: list[Item]) -> None:
    homes = [each for each in shipped if each.kind in {"home", "hypothetical"}]
    scored = [(each, score(each, await stored_of(each, PatchingExtractor("Atlantis")))) for each in homes]
    report = report_of(scored)
    assert report["shares"]["true"] == report["shares"]["found"] == 0.0
    assert report["shares"]["in_events"] == 1.0
    assert [report["goals"][name]["reached"] for name in ("true", "found", "in_events")] == [False, False, True]
    assert "Atlantis" in report["markdown"]
    assert {each["id"] for each in report["failures"]} >= {each.id for each in homes}


@pytest.mark.parametrize(
    ("event_type", "properties", "types_right", "properties_right"),
    [
        ("fact", {}, (0, 0), (0, 0)),
        ("workout", {}, (1, 1), (0, 0)),
        ("workout", {"kind": "running", "minutes": 30, "distance_km": 3.5}, (1, 1), (3, 3)),
        ("workout", {"kind": "swimming", "minutes": 60, "distance_km": 5}, (1, 1), (0, 3)),
        ("workout", {"minutes": True}, (1, 1), (0, 1)),
        ("mood", {"feeling": "tired"}, (0, 1), (0, 1)),
        ("life_event", {"people": ["Kasimir"]}, (0, 1), (1, 1)),
        ("life_event", {"people": ["Kasimir", "Atlantis"]}, (0, 1), (0, 1)),
        ("preference", {"own": True}, (0, 1), (1, 1)),
        ("preference", {"own": False}, (0, 1), (0, 1)),
    ],
)
def test_types_and_properties_are_true_or_false(
    event_type: str, properties: dict[str, JsonValue], types_right: tuple[int, int], properties_right: tuple[int, int]
) -> None:
    true = {
        "types": ["workout"],
        "properties": {"kind": ["run"], "minutes": [30], "distance_km": [3.5], "people": ["kasimir"], "own": [True]},
    }
    item = item_of("I ran half an hour with Kasimir, 3,5 km.", events=true)
    found = rights(score(item, Stored(events=(StoredEvent("I ran", event_type, properties),))))
    assert found.get("types", (0, 0)) == types_right
    assert found.get("properties", (0, 0)) == properties_right
    assert found["typed"] == (int(event_type == "workout"), 1)


def test_shipped_set_checks_types_on_many_items(shipped: list[Item]) -> None:
    checked = [each.events for each in shipped if each.events is not None]
    assert len(checked) >= 60
    assert 20 <= sum(not each.types for each in checked) <= len(checked) - 20


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"kind": ""}, "kind"),
        ({"surprise": 1}, "surprise"),
        ({"schema": "atlantis"}, "no schema 'atlantis' ships"),
        ({"expected": [fact("shoe_size", "43")]}, "no patched field user_profile.shoe_size"),
        ({"messages": []}, "messages"),
        ({"events": {"types": ["earthquake"]}}, "no event type earthquake"),
        ({"events": {"types": ["mood"], "properties": {"magnitude": [7]}}}, "has a property magnitude"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, change: dict[str, object], problem: str) -> None:
    data = tmp_path / "facts.jsonl"
    valid = item_of("Hi").model_dump(by_alias=True, mode="json")
    data.write_bytes(orjson.dumps(valid) + b"\n" + orjson.dumps({**valid, "id": "two", **change}))
    with pytest.raises(DataSetError, match=problem) as caught:
        read_items(data)
    assert "line 2" in str(caught.value)


def test_repeated_ids_and_empty_files_are_refused(tmp_path: Path) -> None:
    data = tmp_path / "facts.jsonl"
    line = orjson.dumps(item_of("Hi").model_dump(by_alias=True, mode="json"))
    data.write_bytes(line + b"\n" + line)
    with pytest.raises(DataSetError, match="several items have the id one"):
        read_items(data)
    data.write_bytes(b"\n")
    with pytest.raises(DataSetError, match="has no items"):
        read_items(data)


@pytest.mark.integration
def test_the_command_measures_the_real_extractor(tmp_path: Path) -> None:
    data = tmp_path / "facts.jsonl"
    items = [
        item_of(
            "My dog Biscuit ate a whole stick of butter.", expected=[fact("relationships", "dog biscuit")], in_events=["biscuit butter"]
        ),
        item_of("It rained all day in the harbour of Bergen.", in_events=["atlantis"]).model_copy(update={"id": "two"}),
    ]
    data.write_bytes(b"\n".join(orjson.dumps(each.model_dump(by_alias=True, mode="json")) for each in items))
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    report = command.run(argparse.Namespace(**vars(parser.parse_args([])), data=data))
    assert report["extractor"] == "offline"
    assert report["shares"] == {"true": 1.0, "found": 1.0, "in_events": 0.5} | UNCHECKED
    assert [each["id"] for each in report["failures"]] == ["two"]


@pytest.mark.integration
async def test_a_model_is_measured_once_paid_for(tmp_path: Path) -> None:
    data = tmp_path / "facts.jsonl"
    item = item_of("Greetings from Bergen, my home.", expected=[fact("home", "bergen")], in_events=["lives bergen"])
    data.write_bytes(orjson.dumps(item.model_dump(by_alias=True, mode="json")))
    answer = orjson.dumps(
        {
            "segments": [{"topic": "home", "ranges": [[0, 0]]}],
            "events": [
                {"type": "fact", "msgs": [0], "content": "Orla lives in Bergen.", "about": "Orla", "keywords": ["home"], "weight": 6}
            ],
            "patches": [{"type": "user_profile", "field": "home", "msgs": [0], "search": "", "replace": "Bergen"}],
        }
    ).decode()
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    async with LLMSimulator(answer=lambda _: answer) as simulator:
        given = ["--model", "simulated", "--endpoint", simulator.base_url, "--replies", str(tmp_path / "replies.jsonl")]
        options = argparse.Namespace(**vars(parser.parse_args(given)), data=data)
        first = await asyncio.to_thread(command.run, options)
        again = await asyncio.to_thread(command.run, options)
        calls = len(simulator.requests)
    assert first == again
    assert calls == 1
    assert first["extractor"] == "llm:simulated"
    assert first["shares"] == {"true": 1.0, "found": 1.0, "in_events": 1.0} | UNCHECKED
