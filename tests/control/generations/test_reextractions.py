"""The states of a re-extraction in the control log, without a log."""

from datetime import UTC, datetime, timedelta

import pytest

from control import ControlState, Draft
from control.draft import new
from control.erasure_changes import begin_erasure
from control.errors import ChangeRefusedError, ErasureUnderWayError, UnknownReextractionError, UnknownTenantError
from control.generations.reextraction_changes import (
    ReextractionRequest,
    cancel_reextraction,
    end_cancellation,
    end_reextraction,
    pause_reextraction,
    resume_reextraction,
    start_reextraction,
    tenants_of_new,
    waiting_tenants,
    waits_for_erasure,
)
from control.generations.switching import tenants_to_write
from control.reextraction import Estimate, Reextraction, RunBudget
from control.tenant_changes import add_generation, add_tenant, count_drop, remove_tenant, set_generation
from tests.control_log import apply_change

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)
SIZE = Estimate(windows=10, messages=40, calls=10, prompt_tokens=9_000, completion_tokens=1_000, cost=0.5)
NEW = "v2"


@pytest.fixture
def state() -> ControlState:
    """Two tenants."""
    state = ControlState()
    for tenant in ("acme", "globex"):
        apply_change(state, lambda draft, tenant=tenant: add_tenant(draft, tenant, schema="companion"))  # type: ignore[misc]
    return state


def started(state: ControlState, *tenants: str, schema: str | None = None) -> Reextraction:
    request = ReextractionRequest(tenants=tenants or ("acme",), generation=NEW, schema=schema)
    budget = RunBudget(tokens=5_000)
    return apply_change(state, lambda draft: start_reextraction(draft, request, estimate=SIZE, budget=budget, at=NOW, by="a test"))


def switched_there_and_back(state: ControlState) -> None:
    apply_change(state, lambda draft: set_generation(draft, "acme", NEW))
    apply_change(state, lambda draft: set_generation(draft, "acme", ""))


def test_a_start_adds_the_generation_to_its_tenants(state: ControlState) -> None:
    apply_change(state, lambda draft: add_generation(draft, "globex", NEW, schema="meetings"))
    run = started(state, "acme", "globex")
    assert run.tenants == ("acme", "globex")
    assert Reextraction.from_json(run.to_json()) == run
    assert state.tenants["acme"].has_generation(NEW)
    assert state.tenants["globex"].schema_of(NEW).name == "meetings", "it keeps the schema that it was announced with"
    assert [each.generation for each in Draft(state).reextractions()] == [NEW]


def test_starts_that_contradict_the_log_are_refused(state: ControlState) -> None:
    with pytest.raises(ChangeRefusedError, match="further generation"):
        tenants_of_new(Draft(state), "-")
    with pytest.raises(UnknownTenantError):
        tenants_of_new(Draft(state), NEW, ["nobody"])
    with pytest.raises(ChangeRefusedError, match="there is no tenant"):
        tenants_of_new(Draft(ControlState()), NEW)
    apply_change(state, lambda draft: add_generation(draft, "acme", NEW))
    with pytest.raises(ChangeRefusedError, match="already, with its own schema"):
        started(state, schema="meetings")
    apply_change(state, lambda draft: set_generation(draft, "acme", NEW))
    with pytest.raises(ChangeRefusedError, match="is live on tenant acme"):
        tenants_of_new(Draft(state), NEW)
    apply_change(state, lambda draft: begin_erasure(draft, "globex", "ada", at=NOW))
    with pytest.raises(ErasureUnderWayError):
        tenants_of_new(Draft(state), NEW, ["globex"])


def test_all_tenants_are_the_default(state: ControlState) -> None:
    apply_change(state, lambda draft: add_tenant(draft, "gone", schema="companion"))
    apply_change(state, lambda draft: remove_tenant(draft, "gone"))
    assert tenants_of_new(Draft(state), NEW) == ["acme", "globex"]


def test_an_unfinished_one_blocks_its_name(state: ControlState) -> None:
    started(state)
    for change in (
        lambda draft: pause_reextraction(draft, NEW, reason="by hand"),
        lambda draft: cancel_reextraction(draft, NEW),
    ):
        with pytest.raises(ChangeRefusedError, match="choose another name"):
            started(state, "globex")
        apply_change(state, change)
    with pytest.raises(ChangeRefusedError, match="is cancelling"):
        started(state, "globex")
    apply_change(state, lambda draft: end_cancellation(draft, NEW))
    assert started(state, "globex").state == "running", "a cancelled one has left the name"


def test_pause_and_resume_keep_position_and_budget(state: ControlState) -> None:
    started(state)
    apply_change(state, lambda draft: pause_reextraction(draft, NEW, reason="the budget is used up"))
    paused = apply_change(state, lambda draft: pause_reextraction(draft, NEW, reason="by hand"))
    assert paused.reason == "the budget is used up"
    larger = apply_change(state, lambda draft: resume_reextraction(draft, NEW, at=LATER, limits={"tokens": 9_000}, position=7))
    assert (larger.state, larger.reason, larger.budget.tokens) == ("running", "", 9_000)
    assert (larger.running_since, larger.position_then, larger.started_at) == (LATER, 7, NOW)
    same = apply_change(state, lambda draft: resume_reextraction(draft, NEW, at=LATER + timedelta(hours=1), position=9))
    assert same == state.reextractions[NEW]
    assert same.position_then == 7, "it was running already"


def test_operators_set_different_limits_at_once(state: ControlState) -> None:
    started(state)
    limits: tuple[dict[str, float | None], ...] = ({"tokens": 9_000}, {"calls_per_minute": 3})
    for each in limits:
        apply_change(state, lambda draft, each=each: resume_reextraction(draft, NEW, at=LATER, limits=each))  # type: ignore[misc]
    assert state.reextractions[NEW].budget == RunBudget(tokens=9_000, calls_per_minute=3)


def test_it_resumes_only_after_an_erasure(state: ControlState) -> None:
    started(state)
    apply_change(state, lambda draft: pause_reextraction(draft, NEW, reason="by hand"))
    apply_change(state, lambda draft: begin_erasure(draft, "acme", "ada", at=NOW))
    with pytest.raises(ErasureUnderWayError):
        apply_change(state, lambda draft: resume_reextraction(draft, NEW, at=LATER))


def test_it_ends_once_every_tenant_is_live(state: ControlState) -> None:
    started(state, "acme", "globex")
    apply_change(state, lambda draft: set_generation(draft, "acme", NEW))
    assert waiting_tenants(Draft(state), state.reextractions[NEW]) == ["globex"]
    with pytest.raises(ChangeRefusedError, match="tenant globex was not switched"):
        apply_change(state, lambda draft: end_reextraction(draft, NEW))
    with pytest.raises(ChangeRefusedError, match="live on tenant acme"):
        apply_change(state, lambda draft: cancel_reextraction(draft, NEW))
    apply_change(state, lambda draft: set_generation(draft, "globex", NEW))
    assert apply_change(state, lambda draft: end_reextraction(draft, NEW)).state == "done"
    for change in (
        lambda draft: pause_reextraction(draft, NEW, reason=""),
        lambda draft: resume_reextraction(draft, NEW, at=LATER),
    ):
        with pytest.raises(ChangeRefusedError, match="is done"):
            apply_change(state, change)


def test_it_ends_after_a_switch_there_and_back(state: ControlState) -> None:
    started(state)
    switched_there_and_back(state)
    assert waiting_tenants(Draft(state), state.reextractions[NEW]) == []
    assert apply_change(state, lambda draft: end_reextraction(draft, NEW)).state == "done"
    assert apply_change(state, lambda draft: count_drop(draft, "acme", NEW)) == 1


def test_a_cancellation_ends_only_by_itself(state: ControlState) -> None:
    """Its worker may find at the same time that every tenant was switched."""
    started(state)
    switched_there_and_back(state)
    apply_change(state, lambda draft: cancel_reextraction(draft, NEW))
    assert apply_change(state, lambda draft: end_reextraction(draft, NEW)).state == "cancelling", "its results are not removed yet"
    with pytest.raises(ChangeRefusedError, match="being cancelled"):
        apply_change(state, lambda draft: set_generation(draft, "acme", NEW))
    assert apply_change(state, lambda draft: end_cancellation(draft, NEW)).state == "cancelled"


def test_nothing_else_builds_or_drops_its_generation(state: ControlState) -> None:
    started(state)
    with pytest.raises(ChangeRefusedError, match="`varve generations resume v2` continues it"):
        tenants_to_write(Draft(state), NEW)
    with pytest.raises(ChangeRefusedError, match="generations cancel"):
        apply_change(state, lambda draft: count_drop(draft, "acme", NEW))
    apply_change(state, lambda draft: cancel_reextraction(draft, NEW))
    assert apply_change(state, lambda draft: count_drop(draft, "acme", NEW)) == 1, "a cancellation drops it"
    apply_change(state, lambda draft: end_cancellation(draft, NEW))
    assert tenants_to_write(Draft(state), NEW) == ["acme"]


def test_an_erasure_of_its_tenants_makes_it_wait(state: ControlState) -> None:
    run = started(state)
    apply_change(state, lambda draft: begin_erasure(draft, "globex", "ada", at=NOW))
    assert not waits_for_erasure(Draft(state), run)
    apply_change(state, lambda draft: begin_erasure(draft, "acme", "ada", at=NOW))
    assert waits_for_erasure(Draft(state), run)


def test_an_unknown_one_is_named(state: ControlState) -> None:
    with pytest.raises(UnknownReextractionError, match="'v9'"):
        apply_change(state, lambda draft: pause_reextraction(draft, "v9", reason=""))


def test_limits_below_one_are_refused() -> None:
    for fields in ({"tokens": 0}, {"cost": 0.0}, {"calls_per_minute": 0}, {"cost": float("inf")}):
        with pytest.raises(ChangeRefusedError):
            new(RunBudget, **fields)
