"""Selects the tenants and the start offset of a generation's workers."""

from collections.abc import Collection
from datetime import datetime

from control import Draft
from control.erasure_changes import require_none_unfinished
from control.errors import ChangeRefusedError
from control.generations.names import generation_name, windows_topic, workers_of
from runtime.kafka import ConsumerGroups, KafkaOffsets
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
        ChangeRefusedError: If a named tenant lacks the generation, or no tenant is left.
        ErasureUnderWayError: If one of the tenants has an unfinished erasure.
    """
    name = generation_name(generation)
    tenants = [known.tenant(each) for each in named] or list(known.tenants().values())
    having = [each for each in tenants if each.has_generation(generation)]
    if len(having) < len(named) or not having:
        without = next((each.id for each in tenants if each not in having), "NAME")
        whose = f"tenant {without!r} has no" if named else "no tenant has a"
        raise ChangeRefusedError(f"{whose} generation {name!r}; announce it with `varve generations add {without} {name}`")
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
