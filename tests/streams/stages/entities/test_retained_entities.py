"""Retention removes contributions, history and models' texts from entities; an entity without anything else is removed."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from memory.ids import entity_id
from streams.engine.records import ConsumedRecord
from tests.streams.stages.entities.team import EXACT, START, TENANT, Remark, Team
from tests.streams.stages.entities.team_retention import retained, said

TEA = entity_id(TENANT, "subject", "tea")
OOLONG: Remark = ("tea", "oolong at dawn", 3)
SENCHA: Remark = ("tea", "sencha at noon", 5)
ALONE: Remark = ("", "alone at dusk", 1)
REMARKS = st.lists(st.tuples(st.sampled_from(["tea", "rain"]), st.sampled_from(["red", "blue"]), st.integers(0, 9)), max_size=3)
WINDOWS = st.lists(st.tuples(st.sampled_from(["ann", "bob"]), REMARKS, st.sampled_from([0, 10, 20, 30])), max_size=5)


async def compacted(team: Team) -> Team:
    """The same from what compaction leaves of the extractions."""
    newest: dict[bytes, ConsumedRecord] = {each.key or b"": each for each in team.log["extractions"]}
    team.log["extractions"] = [each for each in team.log["extractions"] if newest[each.key or b""] is each]
    return await team.rebuilt()


def exact(team: Team) -> dict[str, dict[str, object]]:
    return {each.id: {name: each.properties.get(name) for name in EXACT} for each in team.memories("entity")}


@pytest.mark.parametrize("has_llm", [False, True])
async def test_an_entity_keeps_only_young_remarks(has_llm: bool) -> None:
    team = Team(has_llm=has_llm)
    await said(team, "ann", 0, 0, OOLONG, ALONE)
    await said(team, "bob", 0, 20, SENCHA)
    assert b"oolong at dawn" in team.all_bytes()
    await retained(team)
    assert b"oolong at dawn" not in team.all_bytes()
    assert b"alone at dusk" not in team.all_bytes()
    tea = team.subject("tea")
    assert tea is not None
    assert (tea.properties["remarks"], tea.properties["sum"]) == (1, 5)
    assert [each.number for each in team.steps(TEA)] in ([], [0]), "only the text that was made of the rest"
    assert {each.user for each in team.memories("entity", "person")} == {"bob"}, "nothing of ann is left"
    assert not [key for key in team.states() if b"/ann/" in key]


async def test_an_entity_that_loses_nothing_keeps_its_history() -> None:
    team = Team()
    await said(team, "ann", 0, 0, OOLONG)
    await said(team, "bob", 0, 20, SENCHA, ("rain", "wet", 1))
    rain = entity_id(TENANT, "subject", "rain")
    before = team.steps(rain)
    assert before
    await retained(team)
    assert team.steps(rain) == before


async def test_an_entity_returns_with_new_remarks_only() -> None:
    team = Team()
    await said(team, "ann", 0, 0, OOLONG)
    await retained(team)
    assert team.subject("tea") is None
    await said(team, "ann", 1, 30, SENCHA)
    tea = team.subject("tea")
    assert tea is not None
    assert (tea.properties["remarks"], tea.properties["max"]) == (1, 5)


@pytest.mark.parametrize("has_llm", [False, True])
async def test_an_emptied_entity_remembers_its_erasures(has_llm: bool) -> None:
    """So a replay, which has the erasure again, leaves alone what came after it."""
    team = Team(has_llm=has_llm)
    await team.say("ann", 0, OOLONG)
    await said(team, "bob", 0, 0, SENCHA)
    await team.erase("ann")
    await retained(team)
    assert team.subject("tea") is None
    assert b"sencha at noon" not in team.all_bytes()
    await said(team, "bob", 1, 30, ("tea", "matcha at nine", 2))
    before, steps, states = team.memories("entity"), team.steps(TEA), team.states()
    assert [each.contribution.user for each in steps if each.contribution.merged is None] == ["bob"]
    await team.replay_contributions()
    assert (team.memories("entity"), team.steps(TEA), team.states()) == (before, steps, states)
    assert exact(await team.rebuilt()) == exact(team)


@given(windows=WINDOWS)
@examples(max_examples=15, deadline=None)
async def test_a_rebuild_equals_the_state_after_retention(windows: list[tuple[str, list[Remark], int]]) -> None:
    team, young = Team(), Team()
    for number, (user, remarks, day) in enumerate(windows):
        await said(team, user, number, day, *remarks)
        if day > 15:
            await said(young, user, number, day, *remarks)
    await retained(team)
    assert exact(team) == exact(young), "as if nothing else had ever been said"
    rebuilt = await team.rebuilt()
    by_id = [{each.id: each for each in one.memories("entity")} for one in (rebuilt, team)]
    assert by_id[0] == by_id[1], "byte by byte, while the log has the originals"
    assert exact(await compacted(team)) == exact(team)


async def test_sizes_level_off() -> None:
    """A user talks every day for a hundred days, about a new topic each week, and a run keeps the last fifteen days."""
    team, sizes = Team(), []
    for day in range(100):
        await said(team, "ann", day, day, (f"topic {day // 7}", f"remark of day {day}", day), ALONE)
        if day % 10 == 9:
            await retained(team, {"*": START + timedelta(days=day - 15)})
            rows = {**team.events.rows.rows, **{b"entity " + key: row for key, row in team.entities.rows.rows.items()}}
            standing = [value for value in team.kept["memories"].values() if value is not None]
            sizes.append((len(rows), sum(map(len, rows.values())), len(standing)))
    early, late = sizes[3], sizes[-1]
    assert all(now <= 1.1 * before for before, now in zip(early, late, strict=True)), sizes
    assert b"remark of day 80" not in team.all_bytes()
    assert b"remark of day 99" in team.all_bytes()
