"""Switches a tenant to another generation once that one is complete."""

import asyncio
from collections.abc import Callable, Collection
from typing import Final

from control import ControlWriter, Draft, read_control
from control.errors import GenerationIncompleteError
from control.generations.names import generation_name, windows_topic, workers_of
from control.generations.reading import Offsets, windows_only_in_live
from control.tenant_changes import set_generation
from runtime.kafka import ConsumerGroups, KafkaOffsets
from runtime.kafka.parked_note import read_parked
from runtime.settings import Settings

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
    is_live = Draft(await read_control(settings)).tenant(tenant).generation == generation
    lag = 0 if is_live else await require_complete(settings, tenant, generation, incomplete=incomplete)
    writer = ControlWriter(settings=settings)
    await writer.write(lambda draft: set_generation(draft, tenant, generation), action="generation switch", by=by)
    notice(f"generation {name} of tenant {tenant} is live")
    if lag:
        return
    # Afterwards no worker starts a window with the old generation: each knows the switch, or has lost its lease and waits.
    await writer.settle()
    second = workers_of(settings, generation)
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        ends = await offsets.end_offsets([windows_topic(settings)])
        while remaining := _lag(await offsets.committed_offsets(second, [windows_topic(settings)]), ends):
            if not (await ConsumerGroups(kafka=settings.kafka).members([second]))[second]:
                raise GenerationIncompleteError(
                    f"{remaining} windows may still lack the new generation: run `varve replay extraction --generation {name} "
                    f"--tenant {tenant}` until it has caught up"
                )
            await asyncio.sleep(_POLL_S)
        parked = await read_parked(offsets, second, [windows_topic(settings)])
    if parked.count:
        notice(
            f"the second worker has {parked.count} windows parked, most of them of {', '.join(parked.tenants)}: let it run until their "
            f"budgets allow it, or {name} lacks them"
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
            raise GenerationIncompleteError(
                f"generation {name} lacks {lag} windows of the live one: let "
                f"`varve replay extraction --generation {name}` catch up first, or allow an incomplete generation (--incomplete)"
            )
        if missing := await windows_only_in_live(settings, tenant, generation, offsets, live=live, candidate=candidate):
            raise GenerationIncompleteError(
                f"{missing} windows of tenant {tenant} are only in the live generation; {name} skipped them, parked them, or "
                f"was dropped: extract them with `varve replay extraction --generation {name} --tenant {tenant} --from-time T`, T before "
                "they closed, or allow an incomplete generation (--incomplete)"
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
