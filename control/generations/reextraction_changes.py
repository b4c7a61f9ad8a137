"""Re-extractions in the control log. Pure: each function reads and writes a draft."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from control.draft import Draft, changed, new
from control.erasure_changes import require_none_unfinished
from control.errors import ChangeRefusedError, UnknownReextractionError
from control.reextraction import Estimate, Reextraction, RunBudget
from control.tenant_changes import add_generation
from memory.schema import MemorySchema
from memory.schema.methods import MethodDocument


@dataclass(frozen=True, slots=True, kw_only=True)
class ReextractionRequest:
    """The windows to extract again, and how."""

    tenants: Collection[str]
    generation: str = ""
    """The generation to build. Empty: none yet, for an estimate."""
    schema: str | MemorySchema | None = None
    """The schema, see :func:`control.schemas.resolve_schema`. Default: that of each tenant's live generation."""
    method: str | MethodDocument | None = None
    """The memory method. Default: that of the schema."""
    since: datetime | None = None
    """Only windows that closed at this time or later. Default: all windows."""


def reextraction_of(known: Draft, generation: str) -> Reextraction:
    """The re-extraction that builds a generation.

    Raises:
        UnknownReextractionError: If there is none.
    """
    found = known.reextraction(generation)
    if found is None:
        raise UnknownReextractionError(f"there is no re-extraction {generation!r}; `varve generations runs` lists them")
    return found


def tenants_of_new(known: Draft, generation: str, named: Collection[str] = ()) -> list[str]:
    """The tenants of a new re-extraction.

    Args:
        known: The control log.
        generation: The generation to build.
        named: Only these tenants. Default: all tenants.

    Raises:
        UnknownTenantError: If a named tenant does not exist.
        ChangeRefusedError: If the name is the first generation's, a re-extraction of the name is unfinished, a tenant is live on the
            generation, or there are no tenants.
        ErasureUnderWayError: If one of the tenants has an unfinished erasure.
    """
    if generation in ("", "-"):
        raise ChangeRefusedError("a re-extraction builds a further generation: give it a name other than '-'")
    before = known.reextraction(generation)
    if before is not None and before.is_unfinished:
        raise ChangeRefusedError(
            f"a re-extraction into generation {generation} of {', '.join(before.tenants[:3])} is {before.state}: choose another name, "
            f"or end that one (`varve generations show {generation}`)"
        )
    tenants = [known.tenant(each) for each in dict.fromkeys(named)] or list(known.tenants().values())
    if not tenants:
        raise ChangeRefusedError("there is no tenant; add one with `varve tenants add`")
    live = [each.id for each in tenants if each.generation == generation]
    if live:
        raise ChangeRefusedError(f"generation {generation} is live on tenant {live[0]}: choose another name")
    chosen = [each.id for each in tenants]
    require_none_unfinished((erasure for each in chosen for erasure in known.erasures(each)), f"a re-extraction into {generation}")
    return chosen


def start_reextraction(
    draft: Draft, request: ReextractionRequest, *, estimate: Estimate, budget: RunBudget, at: datetime, by: str, first_position: int = 0
) -> Reextraction:
    """Starts a re-extraction, and adds its generation to tenants that do not have it.

    Args:
        draft: The change.
        request: The windows to extract again.
        estimate: The confirmed estimate.
        budget: Its limits.
        at: Time of the start.
        by: The actor.
        first_position: See :attr:`Reextraction.first_position`.

    Raises:
        UnknownTenantError: If a tenant does not exist.
        ChangeRefusedError: As :func:`tenants_of_new`, or if a tenant has the generation already and a schema or method is given.
    """
    generation, schema, method = request.generation, request.schema, request.method
    chosen = tenants_of_new(draft, generation, request.tenants)
    for tenant_id in chosen:
        if not draft.tenant(tenant_id).has_generation(generation):
            add_generation(draft, tenant_id, generation, schema=schema, method=method)
        elif schema is not None or method is not None:
            raise ChangeRefusedError(
                f"tenant {tenant_id!r} has a generation {generation!r} already, with its own schema: leave out schema and method, or "
                "choose another name"
            )
    run = new(
        Reextraction,
        generation=generation,
        tenants=tuple(chosen),
        started_at=at,
        started_by=by,
        since=request.since,
        budget=budget,
        estimate=estimate,
        first_position=first_position,
        running_since=at,
        position_then=first_position,
    )
    draft.put(run)
    return run


def pause_reextraction(draft: Draft, generation: str, *, reason: str) -> Reextraction:
    """Pauses a re-extraction. One that is paused already keeps its reason.

    Args:
        draft: The change.
        generation: The generation that it builds.
        reason: Why it is paused, for the operator.

    Raises:
        UnknownReextractionError: If there is none.
        ChangeRefusedError: If it has ended or is being cancelled.
    """
    run = _unfinished(draft, generation)
    return _put(draft, changed(run, state="paused", reason=reason)) if run.state == "running" else run


def resume_reextraction(
    draft: Draft, generation: str, *, at: datetime, limits: Mapping[str, float | None] | None = None, position: int | None = None
) -> Reextraction:
    """Resumes a re-extraction; a running one gets only the limits.

    Args:
        draft: The change.
        generation: The generation that it builds.
        at: The current time.
        limits: The fields of its budget to set. The others keep the value that they have when the change is written.
        position: Sum of the offsets that its workers have committed. Default: unknown.

    Raises:
        UnknownReextractionError: If there is none.
        ChangeRefusedError: If it has ended or is being cancelled.
        ErasureUnderWayError: If one of its tenants has an unfinished erasure.
    """
    run = _unfinished(draft, generation)
    if run.state == "paused":
        erasures = (erasure for each in run.tenants for erasure in draft.erasures(each))
        require_none_unfinished(erasures, f"the re-extraction into {generation}")
        run = changed(run, state="running", reason="", running_since=at, position_then=run.position_then if position is None else position)
    return _put(draft, changed(run, budget=changed(run.budget, **limits)) if limits else run)


def cancel_reextraction(draft: Draft, generation: str) -> Reextraction:
    """Begins to cancel a re-extraction: its worker stops. Repeated, it changes nothing.

    Raises:
        UnknownReextractionError: If there is none.
        ChangeRefusedError: If a tenant was switched to the generation, or it has ended.
    """
    run = reextraction_of(draft, generation)
    if run.state == "cancelled":
        return run
    tenants = draft.tenants()
    live = [each for each in run.tenants if each in tenants and tenants[each].generation == generation]
    if live:
        raise ChangeRefusedError(f"generation {generation} is live on tenant {live[0]}: switch back first (`varve generations switch`)")
    if run.state == "done":
        raise ChangeRefusedError(f"the re-extraction into {generation} is done; `varve generations drop` removes a generation")
    return _put(draft, changed(run, state="cancelling", reason=""))


def end_reextraction(draft: Draft, generation: str) -> Reextraction:
    """Ends a re-extraction once all of its tenants were switched to it. One that is being cancelled stays as it is.

    Raises:
        UnknownReextractionError: If there is none.
        ChangeRefusedError: If a tenant was not switched to the generation.
    """
    run = reextraction_of(draft, generation)
    if run.state not in ("running", "paused"):
        return run
    if waiting := waiting_tenants(draft, run):
        raise ChangeRefusedError(f"tenant {waiting[0]} was not switched to generation {generation}")
    return _put(draft, changed(run, state="done", reason=""))


def end_cancellation(draft: Draft, generation: str) -> Reextraction:
    """Ends the cancellation of a re-extraction, whose results are removed. Repeated, it changes nothing.

    Raises:
        UnknownReextractionError: If there is none.
    """
    run = reextraction_of(draft, generation)
    return _put(draft, changed(run, state="cancelled")) if run.state == "cancelling" else run


def waiting_tenants(known: Draft, run: Reextraction) -> list[str]:
    """The tenants of a re-extraction that were not switched to its generation; removed tenants are left out."""
    tenants = known.tenants()
    return [each for each in run.tenants if each in tenants and each not in run.switched]


def waits_for_erasure(known: Draft, run: Reextraction) -> bool:
    """Whether an erasure of a user of one of its tenants is unfinished: its worker stops until then.

    The erasure would otherwise wait until the worker has reached the end of the user's windows.
    """
    return any(each.finished_at is None and each.tenant in run.tenants for each in known.erasures())


def _unfinished(draft: Draft, generation: str) -> Reextraction:
    run = reextraction_of(draft, generation)
    if run.state not in ("running", "paused"):
        raise ChangeRefusedError(f"the re-extraction into {generation} is {run.state}; start a new one (`varve generations start`)")
    return run


def _put(draft: Draft, run: Reextraction) -> Reextraction:
    draft.put(run)
    return run
