"""A shadow of a user equals what the stages have published, and a comparison names each difference."""

from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from memory.headers import KIND
from memory.keys import encode_key, unmarked_key
from memory.records import Memory
from runtime.clocks import SystemClock
from streams.operations.proof.report import Difference, differences_of, digest_of
from streams.operations.proof.shadow import UserShadow, entity_of_outcome
from tests.streams.stages.entities.team import TENANT, Remark, Team
from tests.streams.stages.entities.team_retention import retained, said

REMARKS = st.lists(st.tuples(st.sampled_from(["tea", "rain"]), st.sampled_from(["red", "blue"]), st.integers(0, 9)), max_size=3)
WINDOWS = st.lists(st.tuples(st.sampled_from(["ann", "bob"]), REMARKS, st.sampled_from([0, 10, 20])), min_size=1, max_size=5)


async def shadow_of(team: Team, user: str) -> dict[str, Memory]:
    """The user's memories, made from the logs that the team has."""
    shadow = UserShadow(user=user, partition=0, settings=team._settings, tenants=team.tenants, clock=SystemClock())
    own = encode_key(TENANT, user)
    for record in team.log["extractions"]:
        is_of_all = unmarked_key(record.key or b"") == encode_key(TENANT)
        if record.value is not None and (is_of_all or unmarked_key(record.key or b"") == own):
            await shadow.add([record])
    keys = shadow.entity_keys()
    outcomes = [each for each in team.kept["merged"].values() if each is not None and entity_of_outcome(each) in keys]
    return await shadow.finish(outcomes)


def published(team: Team, user: str) -> dict[str, Memory]:
    kinds = ("event", "entity", "summary")
    return {each.id: each for kind in kinds for each in team.memories(kind) if each.user == user}


@given(windows=WINDOWS, has_llm=st.booleans(), is_retained=st.booleans())
@examples(max_examples=20, deadline=None)
async def test_a_shadow_equals_the_published_memories(
    windows: list[tuple[str, list[Remark], int]], has_llm: bool, is_retained: bool
) -> None:
    team = Team(has_llm=has_llm)
    for number, (user, remarks, day) in enumerate(windows):
        await said(team, user, number, day, *remarks)
    if is_retained:
        await retained(team)
    for user in ("ann", "bob"):
        shadow = await shadow_of(team, user)
        assert differences_of(shadow, published(team, user)) == ()
        assert digest_of(shadow) == digest_of(published(team, user))


async def test_a_timelines_summaries_are_made_again() -> None:
    team = Team(has_llm=True)
    await said(team, "ann", 0, 0, ("tea", "oolong at dawn", 3), ("rain", "wet at noon", 2))
    await team.pass_time(20)
    assert any((KIND, b"tick") in each.headers for each in team.log["extractions"])
    assert {each.kind for each in published(team, "ann").values()} == {"event", "entity", "summary"}
    assert differences_of(await shadow_of(team, "ann"), published(team, "ann")) == ()


async def test_each_difference_is_named() -> None:
    team = Team()
    await said(team, "ann", 0, 0, ("tea", "oolong at dawn", 3), ("rain", "wet at noon", 2))
    shadow = await shadow_of(team, "ann")
    served = dict(shadow)
    events = sorted(name for name, each in shadow.items() if each.kind == "event")
    (entity,) = (name for name, each in shadow.items() if each.kind == "entity")
    del served[events[0]]
    served[events[1]] = shadow[events[1]].model_copy(update={"content": "dry", "importance": 0.9})
    served["zzz"] = shadow[events[1]].model_copy(update={"id": "zzz"})
    served[entity] = shadow[entity].model_copy(update={"version": 99})
    assert {each.memory_id: each for each in differences_of(shadow, served)} == {
        events[0]: Difference(events[0], "event", "missing"),
        events[1]: Difference(events[1], "event", "changed", ("content", "importance")),
        "zzz": Difference("zzz", "event", "extra"),
    }
    assert digest_of(shadow) != digest_of(served)
