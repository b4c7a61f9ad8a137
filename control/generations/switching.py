"""Makes a generation the live one, once it has what the live one has."""

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
    """Makes a generation the live one, for recalls and for what is extracted from now on.

    The second worker still extracts the windows that the live workers had begun under the old generation. This returns when it has.
    Where the generation is live already, this completes a call that was killed: it waits for the second worker.

    Args:
        settings: The settings in force.
        tenant: Whose.
        generation: One of the tenant's; empty: the first.
        by: Who switches, for the audit.
        incomplete: Switch even if windows that the live one has are missing in it, and do not wait for a worker that is behind already.
        notice: Called with a line of progress.

    Raises:
        GenerationIncompleteError: If the generation lacks windows that the live one has; says how many.
        ChangeRefusedError: If the tenant has no such generation.
        UnknownTenantError: If there is no such tenant.
        KafkaUnavailableError: If no broker answers.
    """
    name = generation_name(generation)
    is_live = Draft(await read_control(settings)).tenant(tenant).generation == generation
    behind = 0 if is_live else await require_complete(settings, tenant, generation, incomplete=incomplete)
    writer = ControlWriter(settings=settings)
    await writer.write(lambda draft: set_generation(draft, tenant, generation), action="generation switch", by=by)
    notice(f"generation {name} of tenant {tenant} is live")
    if behind:
        return
    # By then no worker takes a window on under the old generation: each knows of the switch, or has no word of the log and waits.
    await writer.settle()
    second = workers_of(settings, generation)
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        ends = await offsets.end_offsets([windows_topic(settings)])
        while remaining := _lag(await offsets.committed_offsets(second, [windows_topic(settings)]), ends):
            if not (await ConsumerGroups(kafka=settings.kafka).members([second]))[second]:
                raise GenerationIncompleteError(
                    f"{remaining} windows may still lack the new generation: run `varve replay extraction --generation {name} "
                    f"--tenant {tenant}` until it has no more before it"
                )
            await asyncio.sleep(_POLL_S)
        parked = await read_parked(offsets, second, [windows_topic(settings)])
    if parked.count:
        notice(
            f"the second worker has {parked.count} windows parked, most of them of {', '.join(parked.tenants)}: let it run until their "
            f"budgets have room, or {name} lacks them"
        )
        return
    notice("the second worker has done its part: stop it, unless other tenants still wait for it")


async def require_complete(settings: Settings, tenant: str, generation: str, *, incomplete: bool = False) -> int:
    """Checks that a generation has what the live one has.

    Args:
        settings: The settings in force.
        tenant: Whose.
        generation: Which; empty: the first.
        incomplete: Ask for nothing.

    Returns:
        How many windows its worker is behind the live ones.

    Raises:
        GenerationIncompleteError: If it lacks some; says how many.
        UnknownTenantError: If there is no such tenant.
        KafkaUnavailableError: If no broker answers.
    """
    name, windows = generation_name(generation), windows_topic(settings)
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        live = await offsets.committed_offsets(workers_of(settings, None), [windows])
        candidate = await offsets.committed_offsets(workers_of(settings, generation), [windows])
        behind = _lag(candidate, live)
        if incomplete:
            return behind
        if behind:
            raise GenerationIncompleteError(
                f"generation {name} has {behind} windows less than the live one: let "
                f"`varve replay extraction --generation {name}` catch up first, or say that it may be incomplete (--incomplete)"
            )
        if missing := await windows_only_in_live(settings, tenant, generation, offsets, live=live, candidate=candidate):
            raise GenerationIncompleteError(
                f"{missing} windows of tenant {tenant} are in the live generation only; {name} passed them over, parked them, or "
                f"was dropped: let `varve replay extraction --generation {name} --tenant {tenant} --from-time T` do them, T before they "
                "closed, or say that it may be incomplete (--incomplete) to go on without"
            )
    return behind


async def windows_left(settings: Settings, generation: str) -> int:
    """How many windows the workers of a generation have not done yet: of those that have closed, and with those that they have parked.

    Args:
        settings: The settings in force.
        generation: Which; empty: the first.

    Raises:
        KafkaUnavailableError: If no broker answers.
    """
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        left = await _left(settings, generation, offsets)
        return sum((await offsets.end_offsets([windows_topic(settings)])).values()) if left is None else left


async def windows_left_by(settings: Settings, generations: Collection[str]) -> dict[str, int]:
    """The same of several generations; those that no workers of their own have ever made are left out.

    Args:
        settings: The settings in force.
        generations: Which; empty text: the first.

    Raises:
        KafkaUnavailableError: If no broker answers.
    """
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        found = {each: await _left(settings, each, offsets) for each in generations}
    return {each: left for each, left in found.items() if left is not None}


async def _left(settings: Settings, generation: str, offsets: KafkaOffsets) -> int | None:
    """How many windows a generation's own workers have before them, parked ones included; None where there were never any."""
    second, windows = workers_of(settings, generation), windows_topic(settings)
    committed = await offsets.committed_offsets(second, [windows])
    if not committed:
        return None
    return _lag(committed, await offsets.end_offsets([windows])) + (await read_parked(offsets, second, [windows])).count


def _lag(committed: Offsets, target: Offsets) -> int:
    return sum(max(0, offset - committed.get(partition, 0)) for partition, offset in target.items())
