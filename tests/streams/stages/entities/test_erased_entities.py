"""The entities stage: an erased user's own entities are deleted, and shared ones forget only this user."""

from collections.abc import Iterable
from datetime import timedelta
from itertools import count

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from memory.headers import KIND, RETRACTION
from memory.ids import entity_id, window_id
from memory.keys import encode_key
from memory.records import Contribution, Memory, MessageRetraction
from operators.entities.entity_state import EntityState
from streams.engine.records import ConsumedRecord
from streams.errors import TransientError
from streams.stages.entities.codec import TimerRow
from tests.erased_users import now_erased, unreadably_erased
from tests.streams.harness import InMemoryRows, delivered
from tests.streams.stages.entities.team import EXACT, START, TENANT, Remark, Team, extraction

ANN, TEA = entity_id(TENANT, "person", "ann"), entity_id(TENANT, "subject", "tea")
OF_ANN = encode_key(TENANT, "person", "ann", "-")
OF_TEA = encode_key(TENANT, "subject", "tea", "-")

OOLONG: Remark = ("tea", "oolong at dawn", 3)
LONELY: Remark = ("", "alone at dusk", 1)
SENCHA: Remark = ("tea", "sencha at noon", 5)


async def talked(*, has_llm: bool = False) -> Team:
    """Ann and Bob have said something of tea, and Ann something that concerns her alone."""
    team = Team(has_llm=has_llm)
    await team.say("ann", 0, OOLONG, LONELY)
    await team.say("bob", 0, SENCHA)
    await team.settle()
    return team


def state_of(team: Team, key: bytes) -> EntityState:
    row = team.states()[key]
    assert isinstance(row, EntityState)
    return row


@pytest.mark.parametrize("has_llm", [False, True])
async def test_an_entity_of_the_user_is_removed_completely(has_llm: bool) -> None:
    team = await talked(has_llm=has_llm)
    await team.pass_time(20)
    of_ann = {key for key, value in team.kept["merged"].items() if value is not None and key.startswith(OF_ANN)}
    assert len(of_ann) == (2 if has_llm else 0), "a story, and a summary"
    assert {each.user for each in team.memories("entity", "person")} == {"ann", "bob"}
    assert "ann" in {each.user for each in team.memories("summary")}
    assert {key for key in team.timers() if b"/ann/" in key}
    await team.erase("ann")
    assert OF_ANN not in team.states()
    assert {key for key in team.timers() if b"/ann/" in key} == set()
    assert {each.user for each in team.memories("entity", "person")} == {"bob"}
    assert "ann" not in {each.user for each in team.memories("summary")}
    assert team.steps(ANN) == []
    assert {team.kept["merged"][key] for key in of_ann} <= {None}
    assert b"alone at dusk" not in team.all_bytes()


@pytest.mark.parametrize("has_llm", [False, True])
async def test_what_is_said_meanwhile_stays(has_llm: bool) -> None:
    """The user sends newer messages: the log keeps them, so the deleted entity is rebuilt from them."""
    team = await talked(has_llm=has_llm)
    later = count(5)

    async def say() -> None:
        window = next(later)
        await team.say("ann", window, ("tea", f"matcha {window}", window), ("", f"a walk {window}", 2))

    await team.erase("ann", meanwhile=say)
    await say()
    await team.settle()
    assert next(later) > 6
    team.finish_erasure("ann")
    team.clock.advance(timedelta(minutes=1))
    await say()
    await team.settle()
    live = _by_id(team.memories("entity", "person"))
    for is_compacted in (True, False):
        assert _by_id((await team.rebuilt(is_compacted=is_compacted)).memories("entity", "person")) == live
    for start in range(len(team.log["extractions"])):
        await team.replay_events(start)
        assert _by_id(team.memories("entity", "person")) == live, f"replayed from {start}"
    (person,) = [each for each in team.memories("entity", "person") if each.user == "ann"]
    assert "a walk 5" in str(person.properties)
    assert b"alone at dusk" not in team.all_bytes() + b"\n".join(team.events.rows.rows.values())


@pytest.mark.parametrize("has_llm", [False, True])
async def test_superseded_results_of_a_shared_window_are_forgotten(has_llm: bool) -> None:
    """Bob's result quotes Ann without naming her message. Nothing of her erasure's commands is left, and of Bob's records everything."""
    team, window = Team(has_llm=has_llm), window_id(TENANT, "s-bob", 0)
    for revision, text in enumerate(("sencha, as Ann has oolong", "sencha")):
        said = extraction("bob", 0, [("tea", text, 5), ("", "a walk", 1)])
        await team.append(encode_key(TENANT, "bob"), said.model_copy(update={"revision": revision}).to_json())
        if revision == 0:
            assert b"oolong" in team.all_bytes()
            retraction = MessageRetraction(
                tenant=TENANT, user="bob", window_id=window, revision=1, message_ids=["ann-0-0"], is_erasure=True
            )
            await team.append(encode_key(TENANT, "bob"), retraction.to_json(), ((KIND, RETRACTION),))
    assert b"oolong" not in team.all_bytes() + b"\n".join(team.events.rows.rows.values())
    (bob,) = team.memories("entity", "person")
    assert [bob.properties[name] for name in EXACT] == [2, 6.0, 3.0, 5.0, 1.0], "his own words stay"


def _by_id(memories: Iterable[Memory]) -> dict[str, Memory]:
    return {each.id: each for each in memories}


@pytest.mark.parametrize("topic", ["ann", "tea"])
async def test_memories_published_before_a_rebuild_are_removed(topic: str) -> None:
    """The state was made again without the user, and the feed has what it had: the erasure names that."""
    team = await talked(has_llm=True)
    await team.pass_time(20)
    entity_type, entity = ("person", ANN) if topic == "ann" else ("subject", TEA)
    erasure = Contribution(
        tenant=TENANT,
        user="ann",
        entity_type=entity_type,
        entity_key=topic,
        source="extractions/0",
        position=1000,
        forgotten_messages=[],
        forgotten_memories=[each.id for each in team.steps(entity)] + [f"{entity}-summary"],
        forgotten_outcomes=[("story", "-")],
        time=START,
        schema_name="team",
        cause="erasure",
    )
    empty = team.with_rows(InMemoryRows())
    batch = await empty.process([delivered("contributions", 0, encode_key(TENANT, entity_type, topic), erasure.to_json())])
    gone = {(each.topic.removeprefix("varve."), each.key) for each in batch.outputs if each.value is None}
    assert len(team.steps(entity)) > 1
    assert gone >= {("memories", encode_key(TENANT, each)) for each in (*(erasure.forgotten_memories or ()), entity)}
    assert ("merged", encode_key(TENANT, entity_type, topic, "-", "story", "-")) in gone
    assert [each for each in batch.outputs if each.value is not None] == []


async def test_an_erasure_keeps_the_published_state() -> None:
    """A named memory that the state has is published as the state has it: here a summary with another user's words, too."""
    team = await talked()
    await team.pass_time(20)
    named = [each.id for each in team.memories("summary", "subject")]
    before = [each for each in team.memories("entity", "subject") if each.properties["topic"] == "tea"]
    assert named
    assert before
    await team.erase("ann")
    standing = {each.id for each in team.memories("summary", "subject")}
    erasure = Contribution(
        tenant=TENANT,
        user="ann",
        entity_type="subject",
        entity_key="tea",
        source="extractions/0",
        position=1000,
        forgotten_messages=[],
        forgotten_memories=[*named, TEA],
        time=START,
        schema_name="team",
        cause="erasure",
    )
    team._append("contributions", encode_key(TENANT, "subject", "tea"), erasure.to_json())
    await team.settle()
    assert {each.id for each in team.memories("summary", "subject")} == standing
    assert team.subject("tea") is not None


async def test_timers_of_a_removed_entity_do_not_fire() -> None:
    team = await talked()
    await team.erase("ann")
    before = len(team.log["extractions"])
    await team.pass_time(80)
    assert [each for each in team.log["extractions"][before:] if b'"person","entity_key":"ann"' in (each.value or b"")] == []


async def test_a_shared_entity_loses_the_users_contributions() -> None:
    team = await talked()
    tea = team.subject("tea")
    assert tea is not None
    assert [tea.properties[name] for name in EXACT] == [2, 8.0, 4.0, 5.0, 3.0]
    assert tea.message_ids == ["ann-0-0", "bob-0-0"]
    await team.erase("ann")
    tea = team.subject("tea")
    assert tea is not None
    assert [tea.properties[name] for name in EXACT] == [1, 5.0, 5.0, 5.0, 5.0]
    assert tea.message_ids == ["bob-0-0"]
    assert str(tea.properties["story"]).endswith("sencha at noon")
    assert state_of(team, OF_TEA).message_ids == [[each, "bob-0-0"] for each, _ in state_of(team, OF_TEA).message_ids]


@pytest.mark.parametrize("has_llm", [False, True])
async def test_the_erased_words_are_nowhere(has_llm: bool) -> None:
    team = await talked(has_llm=has_llm)
    await team.pass_time(20)
    assert b"oolong" in team.all_bytes()
    await team.erase("ann")
    assert [word for word in (b"oolong", b"alone at dusk", b"ann-0-0", b"ann-0-1", b"s-ann") if word in team.all_bytes()] == []
    assert b"sencha" in team.all_bytes()


async def test_steps_of_a_shared_entity_are_tombstones() -> None:
    team = await talked()
    assert sorted(each.number for each in team.steps(TEA)) == [1, 2]
    await team.erase("ann")
    assert [each for each in team.steps(TEA) if each.number] == [], "any of them may have the earlier entity"
    await team.say("bob", 1, ("tea", "matcha at nine", 2))
    await team.settle()
    assert [each.number > 2 for each in team.steps(TEA) if each.number] == [True], "its history continues after the erasure"


async def test_history_steps_are_removed_once() -> None:
    """Several commands name a user with many windows, and the user may return and be erased again."""
    team, windows = Team(), 40
    for window in range(windows):
        await team.say("ann", window, OOLONG)
        await team.settle()
    await team.say("bob", 0, SENCHA)
    await team.settle()
    for _ in range(2):
        before = team.written
        await team.erase("ann")
        assert team.written - before < 8 * windows, "not all of them for each command"
    assert state_of(team, OF_TEA).forgotten_steps["extractions/0"] > windows


@pytest.mark.parametrize("has_llm", [False, True])
async def test_a_replay_keeps_what_follows_an_erasure(has_llm: bool) -> None:
    team = await talked(has_llm=has_llm)
    await team.erase("ann")
    team.finish_erasure("ann")
    team.clock.advance(timedelta(minutes=1))
    for window in (1, 2):
        await team.say("bob", window, ("tea", f"matcha {window}", 2))
        await team.settle()
    rows, kept, asked = dict(team.entities.rows.rows), {name: dict(each) for name, each in team.kept.items()}, len(team.log["merges"])
    assert len([each for each in team.steps(TEA) if each.number]) == 2
    for replayed in (team.replay_contributions, team.replay_events):
        await replayed()
        assert team.entities.rows.rows == rows
        assert team.kept == kept
        assert len(team.log["merges"]) == asked, "no model is asked again"


async def test_a_replay_does_not_retract_from_a_newer_entity() -> None:
    """The entity of the erased contributions no longer existed, and another user's statement has made a new one."""
    team = await talked()
    await team.erase("ann", is_settled=False)
    await team.step("extractions")
    team.entities = team.with_rows(InMemoryRows())
    team._read["contributions"] = next(each.offset for each in team.log["contributions"] if b'"cause":"erasure"' in (each.value or b""))
    await team.settle()
    await team.say("bob", 1, SENCHA)
    await team.settle()
    before = team.subject("tea")
    assert before is not None
    assert [before.properties[name] for name in EXACT] == [1, 5.0, 5.0, 5.0, 5.0]
    rows = dict(team.entities.rows.rows)
    await team.replay_contributions()
    assert team.subject("tea") == before
    assert team.entities.rows.rows == rows


async def test_a_shared_timer_continues_without_the_user() -> None:
    team = await talked()
    await team.say("ann", 1, OOLONG)
    await team.settle()
    timers = [row.tick for key, row in team.timers().items() if isinstance(row, TimerRow) and b"/subject/" in key]
    assert [each.user for each in timers] == [None]
    assert {row.tick.user for key, row in team.timers().items() if isinstance(row, TimerRow) and b"/person/" in key} == {"ann", "bob"}


async def test_a_shared_entity_of_one_user_leaves_nothing() -> None:
    team = Team(has_llm=True)
    await team.say("ann", 0, OOLONG)
    await team.settle()
    await team.erase("ann")
    assert team.subject("tea") is None
    assert b"oolong" not in team.all_bytes()
    await team.say("bob", 0, SENCHA)
    await team.settle()
    tea = team.subject("tea")
    assert tea is not None
    assert [tea.properties[name] for name in EXACT] == [1, 5.0, 5.0, 5.0, 5.0]


async def test_an_erasure_carried_out_again_finds_the_same() -> None:
    team = await talked()
    await team.erase("ann")
    rows, kept = dict(team.entities.rows.rows), team.kept["memories"] | team.kept["merged"]
    of_command = [each for each in team.log["contributions"] if b'"cause":"erasure"' in (each.value or b"")]
    batch = await team.entities.process(of_command)
    assert team.entities.rows.rows == rows
    # Both rounds of the command: what comes last is what there was.
    assert {each.key: each.value for each in batch.outputs} == {each.key: kept.get(each.key or b"") for each in batch.outputs}


async def test_a_removed_entity_leaves_a_tombstone() -> None:
    team = await talked()
    rows = InMemoryRows()
    of_command = ConsumedRecord("varve.contributions", 0, 0, b"k", erasing("person", "ann").to_json(), (), 0.0)
    batch = await team.with_rows(rows).process([of_command])
    assert [(each.key, each.value) for each in batch.outputs] == [(encode_key(TENANT, ANN), None)]
    assert rows.rows == {}


def erasing(entity_type: str, key: str, *, user: str = "ann") -> Contribution:
    """The erasure command of an entity that has nothing in force."""
    time = Team().clock.now()
    return Contribution(
        tenant=TENANT, user=user, entity_type=entity_type, entity_key=key, source="extractions/0", position=90, time=time, cause="erasure"
    )


async def test_entities_of_other_users_are_kept() -> None:
    team = await talked()
    before = state_of(team, encode_key(TENANT, "person", "bob", "-"))
    await team.erase("ann")
    assert state_of(team, encode_key(TENANT, "person", "bob", "-")) == before


async def test_a_late_contribution_of_an_erased_user_changes_nothing() -> None:
    """The contribution is in flight while the command is executed, or belongs to a log that is handled again."""
    team = await talked()
    await team.say("ann", 1, ("tea", "darjeeling at ten", 9))
    late = team.log["contributions"][-2:]
    team.log["contributions"] = team.log["contributions"][:-2]
    await team.erase("ann")
    rows = dict(team.entities.rows.rows)
    batch = await team.entities.process(late)
    assert (batch.outputs, batch.rejections) == ([], [])
    assert team.entities.rows.rows == rows


async def test_messages_after_the_erasure_offset_create_new_entities() -> None:
    team = await talked()
    await team.erase("ann")
    await team.say("ann", 7, ("tea", "assam at ten", 9))
    await team.settle()
    (ann,) = [each for each in team.memories("entity", "person") if each.user == "ann"]
    assert [ann.properties[name] for name in EXACT] == [1, 9.0, 9.0, 9.0, 9.0]
    assert ann.message_ids == ["ann-7-0"]
    tea = team.subject("tea")
    assert tea is not None
    assert tea.properties["remarks"] == 2


async def answers(team: Team) -> list[ConsumedRecord]:
    """The merging stage's answers to the waiting requests; the entities have not received them."""
    start = len(team.log["contributions"])
    await team.step("merges")
    return team.log["contributions"][start:]


async def test_a_late_answer_restores_no_erased_entity() -> None:
    team = Team(has_llm=True)
    await team.say("ann", 0, LONELY, ("", "alone at noon", 2))
    await team.step("contributions")
    late = [each for each in await answers(team) if b'"entity_type":"person"' in (each.value or b"")]
    assert len(late) == 1
    team.log["contributions"].remove(late[0])
    team._read["contributions"] -= 1
    await team.erase("ann")
    batch = await team.entities.process(late)
    assert (batch.outputs, batch.rejections, team.states()) == ([], [], {})


async def erased_before_the_answer() -> Team:
    """The entities have executed Ann's erasure, and then read an answer about what Ann and Bob had said."""
    team = Team(has_llm=True)
    await team.say("ann", 0, OOLONG)
    await team.say("bob", 0, SENCHA)
    await team.step("contributions")
    late = [each for each in await answers(team) if b'"entity_type":"subject"' in (each.value or b"")]
    team.log["contributions"] = [each for each in team.log["contributions"] if each not in late]
    team._read["contributions"] = len(team.log["contributions"])
    await team.erase("ann", is_settled=False)
    await team.step("extractions")
    await team.step("contributions")
    assert state_of(team, OF_TEA).properties["story"][1]["asked"]
    assert b"oolong" not in team.all_bytes()
    team.log["contributions"] += late
    await team.step("contributions")
    return team


async def test_a_shared_entity_adopts_a_late_answer() -> None:
    """A request whose answer is pending is dropped, and a late answer, which may contain the erased words, is superseded."""
    team = await erased_before_the_answer()
    await team.settle()
    story = state_of(team, OF_TEA).properties["story"][1]
    assert "asked" not in story
    assert story["base"]["text"] == "2024-05-06: sencha at noon"
    assert b"oolong" not in team.all_bytes()


async def test_an_answer_of_no_news_is_not_kept() -> None:
    """It takes the place of the rule's outcome, until a model answers the next question."""
    team = await erased_before_the_answer()
    assert b"oolong" not in team.all_bytes()


async def test_an_unreadable_erasure_holds_the_stage_up() -> None:
    team = await talked()
    unreadably_erased(team.tenants, TENANT)
    with pytest.raises(TransientError):
        await team.entities.process_uncommitted(team.log["contributions"][:1])


async def test_without_an_erasure_offset_records_are_processed() -> None:
    team = Team()
    now_erased(team.tenants, TENANT, "ann", {"messages": {0: 99}, "windows": {0: 99}})
    await team.say("ann", 0, OOLONG)
    await team.settle()
    assert team.subject("tea") is not None


REMARKS = st.lists(
    st.tuples(
        st.sampled_from(["ann", "bob", "cid"]),
        st.integers(0, 2),
        st.lists(st.tuples(st.sampled_from(["tea", "rain"]), st.sampled_from(["a", "b"]), st.integers(-50, 50)), max_size=3),
    ),
    max_size=9,
)


@examples(max_examples=60, deadline=None)
@given(log=REMARKS)
async def test_shared_values_are_as_without_the_user(log: list[tuple[str, int, list[Remark]]]) -> None:
    """Windows are extracted again, too: the newest of each counts."""
    team, without = Team(), Team()
    for user, window, remarks in log:
        await team.say(user, window, *remarks)
        if user != "ann":
            await without.say(user, window, *remarks)
    for each in (team, without):
        await each.settle()
    await team.erase("ann")
    for topic in ("tea", "rain"):
        found, wanted = team.subject(topic), without.subject(topic)
        assert (found is None) == (wanted is None)
        if found is not None and wanted is not None:
            assert {name: found.properties.get(name) for name in EXACT} == {name: wanted.properties.get(name) for name in EXACT}
    assert {each.user for each in team.memories("entity", "person")} == {each.user for each in without.memories("entity", "person")}


async def whispered() -> Team:
    """Ann has whispered of tea as well, and is erased: what others have remarked has an answer, of whispers nothing is left."""
    team = Team(has_llm=True)
    await team.say("ann", 0, OOLONG)
    await team.say("ann", 1, OOLONG, kind="whisper")
    await team.say("bob", 0, SENCHA)
    await team.settle()
    await team.erase("ann")
    return team


async def test_values_of_other_users_remain_after_an_erasure() -> None:
    tea = (await whispered()).subject("tea")
    assert tea is not None
    assert (tea.properties["story"], tea.properties.get("whispers")) == ("2024-05-06: sencha at noon", None)


async def test_a_rebuild_after_an_erasure_is_equal() -> None:
    team = await whispered()
    live, rebuilt = team.subject("tea"), (await team.rebuilt()).subject("tea")
    assert live is not None
    assert rebuilt is not None
    assert {name: rebuilt.properties.get(name) for name in EXACT} == {name: live.properties.get(name) for name in EXACT}


@pytest.mark.parametrize("has_llm", [False, True])
async def test_a_shared_entity_does_not_name_the_erased_user(has_llm: bool) -> None:
    team = await talked(has_llm=has_llm)
    await team.pass_time(20)
    await team.erase("ann")
    assert b'"user":"ann"' not in team.all_bytes()


async def test_messages_taken_back_before_are_forgotten() -> None:
    team = await talked()
    await team.say("ann", 0, LONELY)
    await team.settle()
    await team.erase("ann")
    assert [name for _, name in state_of(team, OF_TEA).message_ids] == ["bob-0-0"]
