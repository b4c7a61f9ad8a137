"""Starts a generation's workers at the right offsets, and switches a tenant to a generation once it is complete."""

import asyncio
from collections.abc import Callable, Collection
from datetime import datetime
from typing import Final

from control import ControlWriter, Draft, read_control
from control.erasure_changes import require_none_unfinished
from control.errors import ChangeRefusedError, GenerationIncompleteError
from control.generations.reading import Offsets, generation_name, windows_only_in_live, windows_topic, workers_of
from control.tenant_changes import require_switchable, set_generation
from memory.texts.text import counted
from runtime.kafka import ConsumerGroups, KafkaOffsets
from runtime.kafka.parked_note import read_parked
from runtime.settings import Settings


def tenants_to_write(known: Draft, generation: str, *, named: Collection[str] = ()) -> list[str]:
    """The tenants whose windows the workers of a generation extract.

    A live generation is built by the live workers; a second worker would replace their results. Therefore tenants on which it is live are
    included only if named, for example to finish the last windows before a switch.

    Args:
        known: The control log.
        generation: The generation; empty: the first, which every tenant has.
        named: Only these tenants. Default: all tenants that have the generation but are not live on it.

    Raises:
        UnknownTenantError: If a named tenant does not exist.
        ChangeRefusedError: If a re-extraction builds the generation, a named tenant lacks it, or no tenant is left.
        ErasureUnderWayError: If one of the tenants has an unfinished erasure.
    """
    name = generation_name(generation)
    run = known.reextraction(generation)
    if run is not None and run.is_unfinished:
        raise ChangeRefusedError(
            f"a re-extraction into generation {name}, with its own budget, is {run.state}: `varve generations resume {name}` continues it"
        )
    tenants = [known.tenant(each) for each in named] or list(known.tenants().values())
    having = [each for each in tenants if each.has_generation(generation)]
    if len(having) < len(named) or not having:
        without = next((each.id for each in tenants if each not in having), "NAME")
        whose = f"tenant {without!r} has no" if named else "no tenant has a"
        raise ChangeRefusedError(f"{whose} generation {name!r}; `varve generations start {name} --tenant {without}` adds and builds it")
    wanted = [each.id for each in having if named or each.generation != generation]
    if not wanted:
        raise ChangeRefusedError(
            f"generation {name} is live on every tenant that has it, so the live workers build it: name a tenant that lacks windows of it "
            "(--tenant), or reset the extraction stage (`varve replay extraction`)"
        )
    require_none_unfinished((erasure for each in wanted for erasure in known.erasures(each)), f"generation {name}")
    return wanted


async def set_start(settings: Settings, generation: str, *, since: datetime | None) -> None:
    """Sets the start offsets of a generation's workers.

    Args:
        settings: The settings.
        generation: The generation; empty: the first.
        since: Start with windows that closed at this time or later (aware; wall clock). None: the workers resume, or start with the first
            window.

    Raises:
        GroupInUseError: If a worker of the generation is running.
        KafkaUnavailableError: If no broker answers.
    """
    groups = ConsumerGroups(kafka=settings.kafka)
    group = workers_of(settings, generation)
    if since is None:
        # A group without commits counts records before the log's beginning as lost; this group never needed them.
        async with KafkaOffsets(kafka=settings.kafka) as offsets:
            known = await offsets.committed_offsets(group, [windows_topic(settings)])
            begins = await offsets.beginning_offsets([windows_topic(settings)])
        await groups.commit(group, {partition: begin for partition, begin in begins.items() if begin and partition not in known})
        return
    await groups.require_empty([group])
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        await groups.commit(group, await offsets.offsets_since([windows_topic(settings)], since))


_POLL_S: Final = 0.5


async def switch(
    settings: Settings,
    tenant: str,
    generation: str,
    *,
    by: str,
    incomplete: bool = False,
    notice: Callable[[str], None] = lambda line: None,
) -> None:
    """Makes a generation the live one, for recalls and for new extractions.

    The second worker still extracts the windows that the live workers had begun for the old generation; this function waits for that.
    If the generation is live already, it completes an interrupted call: it waits for the second worker.

    Args:
        settings: The settings.
        tenant: The tenant.
        generation: A generation of the tenant; empty: the first.
        by: The actor, for the audit log.
        incomplete: Switch even if the generation lacks windows of the live one, without waiting for a lagging worker.
        notice: Called with lines of progress.

    Raises:
        GenerationIncompleteError: If the generation lacks windows of the live one; contains their number.
        ChangeRefusedError: If the tenant has no such generation.
        UnknownTenantError: If there is no such tenant.
        KafkaUnavailableError: If no broker answers.
    """
    name = generation_name(generation)
    # A switch that will be refused is refused before windows are counted: an unknown generation lacks all of them.
    before = require_switchable(Draft(await read_control(settings)), tenant, generation)
    lag = 0 if before.generation == generation else await require_complete(settings, tenant, generation, incomplete=incomplete)
    writer = ControlWriter(settings=settings)
    await writer.write(lambda draft: set_generation(draft, tenant, generation), action="generation switch", by=by)
    notice(f"generation {name} of tenant {tenant} is live")
    if lag:
        return
    # Afterwards no worker starts a window with the old generation: each knows the switch, or has lost its lease and waits.
    await writer.settle()
    second = workers_of(settings, generation)
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        if before.generation == generation and not await offsets.committed_offsets(second, [windows_topic(settings)]):
            return  # it was live before, and no second worker has built it
        ends = await offsets.end_offsets([windows_topic(settings)])
        while remaining := _lag(await offsets.committed_offsets(second, [windows_topic(settings)]), ends):
            if not (await ConsumerGroups(kafka=settings.kafka).members([second]))[second]:
                raise GenerationIncompleteError(
                    f"{counted(remaining, 'window')} may still lack the new generation: run `varve replay extraction --generation {name} "
                    f"--tenant {tenant}` until it has caught up"
                )
            await asyncio.sleep(_POLL_S)
        parked = await read_parked(offsets, second, [windows_topic(settings)])
    if parked.count:
        notice(
            f"the second worker has {counted(parked.count, 'window')} parked, most of {', '.join(parked.tenants)}: let it run until the "
            f"tenants' budgets allow them, or {name} lacks them"
        )
        return
    notice("the second worker has done its part: stop it, unless other tenants still wait for it")


async def require_complete(settings: Settings, tenant: str, generation: str, *, incomplete: bool = False) -> int:
    """Checks that a generation has all windows of the live one.

    Args:
        settings: The settings.
        tenant: The tenant.
        generation: The generation; empty: the first.
        incomplete: Skip the checks.

    Returns:
        The lag of its worker relative to the live workers, in windows.

    Raises:
        GenerationIncompleteError: If windows are missing; contains their number.
        UnknownTenantError: If there is no such tenant.
        KafkaUnavailableError: If no broker answers.
    """
    name, windows = generation_name(generation), windows_topic(settings)
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        live = await offsets.committed_offsets(workers_of(settings, None), [windows])
        candidate = await offsets.committed_offsets(workers_of(settings, generation), [windows])
        lag = _lag(candidate, live)
        if incomplete:
            return lag
        if lag:
            # The first generation has no worker of its own before a switch away from it: it has all windows up to then.
            gap = "" if generation else f", T a minute before the switch (`varve audit list --subject tenant/{tenant}` shows it)"
            command = f"`varve replay extraction --generation {name} --tenant {tenant}{' --from-time T' if gap else ''}`"
            worker = f"its re-extraction (`varve generations show {name}`) or {command}" if generation else command
            raise GenerationIncompleteError(
                f"generation {name} lacks up to {counted(lag, 'window')} of the live one: let {worker} catch up first{gap}, or allow an "
                "incomplete generation (--incomplete)"
            )
        if missing := await windows_only_in_live(settings, tenant, generation, offsets, live=live, candidate=candidate):
            raise GenerationIncompleteError(
                f"only the live generation has {counted(missing, 'window')} of tenant {tenant}, which {name} skipped or parked, or it was "
                f"dropped: run `varve replay extraction --generation {name} --tenant {tenant} --from-time T`, T before the first of them "
                "closed, or allow an incomplete generation (--incomplete)"
            )
    return lag


async def windows_left(settings: Settings, generation: str) -> int:
    """Number of closed windows that the workers of a generation have not extracted yet, including parked ones.

    Args:
        settings: The settings.
        generation: The generation; empty: the first.

    Raises:
        KafkaUnavailableError: If no broker answers.
    """
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        left = await _left(settings, generation, offsets)
        return sum((await offsets.end_offsets([windows_topic(settings)])).values()) if left is None else left


async def windows_left_by(settings: Settings, generations: Collection[str]) -> dict[str, int]:
    """Remaining windows by generation, without generations that never had second workers.

    Args:
        settings: The settings.
        generations: The generations; empty text: the first.

    Raises:
        KafkaUnavailableError: If no broker answers.
    """
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        found = {each: await _left(settings, each, offsets) for each in generations}
    return {each: left for each, left in found.items() if left is not None}


async def _left(settings: Settings, generation: str, offsets: KafkaOffsets) -> int | None:
    """Number of windows that a generation's second workers have left, including parked ones; None if there were never any workers."""
    second, windows = workers_of(settings, generation), windows_topic(settings)
    committed = await offsets.committed_offsets(second, [windows])
    if not committed:
        return None
    return _lag(committed, await offsets.end_offsets([windows])) + (await read_parked(offsets, second, [windows])).count


def _lag(committed: Offsets, target: Offsets) -> int:
    return sum(max(0, offset - committed.get(partition, 0)) for partition, offset in target.items())
