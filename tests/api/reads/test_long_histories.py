"""Histories are replayed off the event loop: a step with hundreds of patches takes a tenth of a second."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import cast

from api.reads.entity_history import EntityHistory
from memory.records import Change, Contribution, HistoryEntry
from operators.entities.history import Moment
from stores.port import MemoryStore, TenantScope
from tests.control_log import known_tenants
from tests.growth import RESPONSIVE, turns_during

BEGIN = datetime(2024, 1, 1, tzinfo=UTC)
STEPS, PATCHES = 3, 1000


class KeptSteps:
    """The steps of one entity, by page."""

    def __init__(self, steps: Sequence[HistoryEntry]) -> None:
        self._steps = steps

    async def steps(self, scope: TenantScope, entity: str, *, after: str | None, limit: int) -> list[HistoryEntry]:
        """One page."""
        first = 0 if after is None else int(after) + 1
        return list(self._steps[first : first + limit])


def step(number: int) -> HistoryEntry:
    when = BEGIN + timedelta(hours=number)
    patches = [{"search": "", "replace": f"city {number}-{index} {'by the sea ' * 5}"} for index in range(PATCHES)]
    contribution = Contribution(
        tenant="acme",
        user="eve",
        entity_type="user_profile",
        entity_key="eve",
        source="extractions/0",
        position=number,
        changes=[
            Change(op="apply", property="home", value=patch, event_time=when, source_id=f"p{number}-{index}")
            for index, patch in enumerate(patches)
        ],
        time=when,
        recorded_at=when,
    )
    return HistoryEntry(id=str(number - 1), tenant="acme", entity="e", number=number, contribution=contribution)


def history() -> EntityHistory:
    store = cast(MemoryStore, KeptSteps([step(number) for number in range(1, STEPS + 1)]))
    return EntityHistory(store=store, tenants=known_tenants({"acme": "companion"}), tenant="acme", entity="e")


async def test_an_earlier_moment_is_computed_off_the_loop() -> None:
    at = history().at(Moment(as_of=BEGIN + timedelta(hours=STEPS - 1)), entity_key="eve", now=BEGIN)
    entity, turns = await turns_during(at)

    assert entity is not None
    assert "city 1-0" in str(entity.properties["home"])
    assert turns > RESPONSIVE


async def test_a_history_is_listed_off_the_loop() -> None:
    (steps, complete), turns = await turns_during(history().walk(Moment()))

    assert (len(steps), complete) == (STEPS, True)
    assert turns > RESPONSIVE
