"""Whose windows the workers of a generation extract, and where they start."""

from collections.abc import Collection
from datetime import datetime

from control import Draft
from control.erasure_changes import require_none_under_way
from control.errors import ChangeRefusedError
from control.generations.names import generation_name, windows_topic, workers_of
from runtime.kafka import ConsumerGroups, KafkaOffsets
from runtime.settings import Settings


def tenants_to_write(known: Draft, generation: str, *, named: Collection[str] = ()) -> list[str]:
    """Whose windows the workers of a generation extract.

    Where it is live, the live workers make it: what others made of the same windows would take the place of what stands. So that is done
    only for tenants that are named, such as one whose last windows before a switch are still to come.

    Args:
        known: What the control log says.
        generation: The generation; empty: the first, which every tenant has.
        named: These tenants alone; empty: all that have it, and not as the live one.

    Raises:
        UnknownTenantError: If there is no tenant of a name.
        ChangeRefusedError: If a tenant that is named lacks it, or there is none to write.
        ErasureUnderWayError: If an erasure of a user of one of them is under way.
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
            f"generation {name} is live wherever it is, and the live workers make it: name a tenant that lacks windows of it (--tenant), "
            "or set extraction back (`varve replay extraction`)"
        )
    require_none_under_way((erasure for each in wanted for erasure in known.erasures(each)), f"generation {name}")
    return wanted


async def set_start(settings: Settings, generation: str, *, since: datetime | None) -> None:
    """Sets where the workers of a generation start.

    Args:
        settings: The settings in force.
        generation: The generation; empty: the first.
        since: Windows that closed at this moment or later (aware; wall clock). None: the workers go on where they were, or start at the
            beginning of the windows.

    Raises:
        GroupInUseError: If a worker of it runs already.
        KafkaUnavailableError: If no broker answers.
    """
    groups = ConsumerGroups(kafka=settings.kafka)
    group = workers_of(settings, generation)
    if since is None:
        # A group that has committed nothing has lost what lies before the log's beginning; this one was never to see it.
        async with KafkaOffsets(kafka=settings.kafka) as offsets:
            known = await offsets.committed_offsets(group, [windows_topic(settings)])
            begins = await offsets.beginning_offsets([windows_topic(settings)])
        await groups.commit(group, {partition: begin for partition, begin in begins.items() if begin and partition not in known})
        return
    await groups.require_empty([group])
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        await groups.commit(group, await offsets.offsets_since([windows_topic(settings)], since))
