"""Entities have the lowest trust of their sources; a distrusted source is retracted, and applied again when it is trusted."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from memory.headers import KIND, TRUST, TRUST_REVIEW
from memory.keys import encode_key, marked_key
from memory.records import Correction, EventSeen, Extraction, Memory, SourceSet, TrustReview, TrustRules
from memory.records.trust import EntityTrust, TrustLevel
from memory.trust import LEVELS
from tests.streams.stages.entities.team import EXACT, START, TENANT, Remark, Team, extraction

OOLONG: Remark = ("tea", "oolong at dawn", 3)
SENCHA: Remark = ("tea", "sencha at noon", 5)
SOURCES = ("app:crm", "tool:browser", "role:user")
RULES = st.dictionaries(st.sampled_from(SOURCES), st.sampled_from(LEVELS))
WINDOWS = st.lists(
    st.tuples(
        st.sampled_from(["ann", "bob"]),
        st.lists(st.tuples(st.sampled_from(["tea", "rain"]), st.sampled_from(["red", "blue"]), st.integers(0, 9)), max_size=3),
        st.sampled_from(SOURCES),
    ),
    max_size=4,
)


async def said(team: Team, user: str, window: int, source: str, *remarks: Remark) -> Extraction:
    """A window whose messages all have one source is extracted."""
    what = extraction(user, window, remarks)
    what = what.model_copy(update={"sources": [SourceSet(names=[source], messages=list(range(len(remarks))))]})
    team._append("extractions", encode_key(TENANT, user), what.to_json())
    await team.settle()
    return what


async def trusted(team: Team, version: int, rules: dict[str, TrustLevel], *, entities_from: EntityTrust = "normal") -> None:
    """Sets the rules and reviews every window, as an application of the rules does."""
    windows = {
        what.window_id: what.user
        for each in team.log["extractions"]
        if not any(name == KIND for name, _ in each.headers) and (what := Extraction.from_json(each.value or b""))
    }
    sent = TrustRules(tenant=TENANT, version=version, sources=rules, entities_from=entities_from, time=START + timedelta(days=version))
    team._append("extractions", marked_key(encode_key(TENANT), f"trust-{version}"), sent.to_json(), ((KIND, TRUST),))
    for window, user in windows.items():
        review = TrustReview(tenant=TENANT, user=user, window_id=window, version=version)
        team._append("extractions", encode_key(TENANT, user), review.to_json(), ((KIND, TRUST_REVIEW),))
    await team.settle()


def exact(team: Team) -> dict[str, tuple[object, ...]]:
    """The entities with their values and trust, without the number of their changes."""
    return {each.id: (each.trust, *(each.properties.get(name) for name in EXACT)) for each in team.memories("entity")}


def events(team: Team) -> dict[str, Memory]:
    return {each.content: each for each in team.memories("event")}


async def test_an_entity_has_the_lowest_trust_of_its_sources() -> None:
    team = Team()
    await trusted(team, 1, {"app:crm": "trusted", "tool:browser": "untrusted"}, entities_from="untrusted")
    await said(team, "ann", 0, "app:crm", OOLONG)
    tea = team.subject("tea")
    assert tea is not None
    assert tea.trust == "trusted"
    await said(team, "bob", 0, "tool:browser", SENCHA)
    tea = team.subject("tea")
    assert tea is not None
    assert (tea.trust, tea.properties["sum"]) == ("untrusted", 8)
    assert {each.trust for each in team.memories("summary")} <= {"trusted", "untrusted"}


async def test_an_untrusted_source_changes_no_entity() -> None:
    team = Team()
    await trusted(team, 1, {"tool:browser": "untrusted"})
    await said(team, "ann", 0, "tool:browser", OOLONG)
    assert team.memories("entity") == []
    memory = events(team)["oolong at dawn"]
    assert (memory.trust, memory.expires_at, memory.entity_keys) == ("untrusted", None, None), "recalls find it"


async def test_contributions_of_a_distrusted_source_are_removed() -> None:
    team, without = Team(), Team()
    for one in (team, without):
        await said(one, "ann", 0, "app:crm", OOLONG)
    await said(team, "bob", 0, "tool:browser", SENCHA)
    before, memories = exact(team), events(team)
    await trusted(team, 1, {"tool:browser": "distrusted"})
    assert exact(team) == exact(without), "as if it had never been said"
    memory = events(team)["sencha at noon"]
    assert (memory.trust, memory.expires_at) == ("distrusted", START + timedelta(days=1)), "no recall finds it"
    assert memory.version > memories["sencha at noon"].version
    assert events(team)["oolong at dawn"] == memories["oolong at dawn"], "nothing of others is published again"
    await trusted(team, 2, {})
    assert exact(team) == before
    restored = events(team)["sencha at noon"]
    assert (restored.trust, restored.expires_at, restored.entity_keys) == (None, None, memories["sencha at noon"].entity_keys)


async def test_rules_hold_for_later_windows_and_never_go_back() -> None:
    team = Team()
    await trusted(team, 2, {"app:crm": "distrusted"})
    await trusted(team, 1, {})
    await said(team, "ann", 0, "app:crm", OOLONG)
    assert team.memories("entity") == []


async def test_a_new_extraction_keeps_the_rules() -> None:
    team = Team()
    await said(team, "ann", 0, "app:crm", OOLONG, SENCHA)
    await trusted(team, 1, {"app:crm": "distrusted"})
    await said(team, "ann", 0, "app:crm", OOLONG)
    assert team.memories("entity") == []
    assert {each.trust for each in team.memories("event")} == {"distrusted"}


async def test_a_correction_of_an_untrusted_event_changes_no_entity() -> None:
    team = Team()
    await trusted(team, 1, {"tool:browser": "untrusted"})
    what = await said(team, "ann", 0, "tool:browser", OOLONG)
    (event,) = what.events
    seen = EventSeen(window_id=what.window_id, type=event.type, content=event.content, message_ids=event.message_ids)
    for number, action in enumerate(("invalidate", "revert")):
        made = Correction.model_validate(
            {"id": f"c{number}", "tenant": TENANT, "user": "ann", "action": action, "memory_id": event.id, "by": "ops", "time": START}
            | {"event": seen}
        )
        team._append("extractions", encode_key(TENANT, "ann"), made.to_json(), ((KIND, b"correction"),))
        await team.settle()
    assert team.memories("entity") == []
    assert events(team)["oolong at dawn"].trust == "untrusted"


async def test_an_erasure_removes_trust_reviews() -> None:
    team = Team()
    await said(team, "ann", 0, "app:crm", OOLONG)
    await said(team, "bob", 0, "app:crm", SENCHA)
    await trusted(team, 1, {"app:crm": "distrusted"})
    await team.erase("ann")
    await trusted(team, 2, {})
    assert b"oolong" not in team.all_bytes()
    tea = team.subject("tea")
    assert tea is not None
    assert tea.properties["sum"] == 5


@pytest.mark.parametrize("has_llm", [False, True])
async def test_a_repeated_review_changes_nothing(has_llm: bool) -> None:
    team = Team(has_llm=has_llm)
    await said(team, "ann", 0, "app:crm", OOLONG, SENCHA)
    await trusted(team, 1, {"app:crm": "untrusted"})
    rows, found = dict(team.events.rows.rows), exact(team)
    await trusted(team, 1, {"app:crm": "untrusted"})
    assert (team.events.rows.rows, exact(team)) == (rows, found)


@given(windows=WINDOWS, first=RULES, second=RULES, entities_from=st.sampled_from(["normal", "untrusted"]))
@examples(max_examples=15, deadline=None)
async def test_order_of_rules_and_windows_does_not_matter(
    windows: list[tuple[str, list[Remark], str]],
    first: dict[str, TrustLevel],
    second: dict[str, TrustLevel],
    entities_from: EntityTrust,
) -> None:
    """Rules that come after the windows, in any number, give what rules before them give; and a rebuild gives the same bytes."""
    late, early = Team(), Team()
    await trusted(early, 2, second, entities_from=entities_from)
    for number, (user, remarks, source) in enumerate(windows):
        await said(late, user, number, source, *remarks)
        await said(early, user, number, source, *remarks)
    await trusted(late, 1, first)
    await trusted(late, 2, second, entities_from=entities_from)
    assert exact(late) == exact(early)
    one, other = ({each.id: (each.trust, each.expires_at, each.entity_keys) for each in team.memories("event")} for team in (late, early))
    assert one == other
    rebuilt = await late.rebuilt()
    assert rebuilt.kept["memories"] == late.kept["memories"]
    assert rebuilt.states() == late.states()
    assert rebuilt.events.rows.rows == late.events.rows.rows
