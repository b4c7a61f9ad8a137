"""Refuses what must not happen while an erasure is under way: stages that are rebuilt or replayed then know less than what is published."""

from collections.abc import Sequence
from typing import Final

from runtime.control import read_control
from runtime.control.erasure import Erasure
from runtime.errors import ErasureUnderWayError
from runtime.settings import Settings

_NAMED: Final = 3
"""Erasures that the refusal names."""


async def require_no_erasure(settings: Settings, what: str, *, tenant: str | None = None) -> None:
    """Returns if no erasure is under way: one that the control log has begun and that has no receipt.

    Args:
        settings: Where Kafka is.
        what: What is refused otherwise, as the subject of a sentence: "a rebuild".
        tenant: Whose erasures matter; None: those of all tenants.

    Raises:
        ErasureUnderWayError: If one is; says which, and what to do.
        KafkaUnavailableError: If no broker answers.
    """
    erasures = (await read_control(settings)).erasures.values()
    refuse_amid(sorted((each for each in erasures if tenant in (None, each.tenant)), key=lambda each: each.requested_at), what)


def refuse_amid(erasures: Sequence[Erasure], what: str) -> None:
    """The same of erasures that are known. Pure.

    Raises:
        ErasureUnderWayError: If one of them has no receipt.
    """
    under_way = [each for each in erasures if each.finished_at is None]
    if not under_way:
        return
    named = [f"user {each.subject[:12]} of tenant {each.tenant} since {each.requested_at:%Y-%m-%d %H:%M}Z" for each in under_way[:_NAMED]]
    more = f" and {len(under_way) - _NAMED} more" if len(under_way) > _NAMED else ""
    raise ErasureUnderWayError(
        f"{what} could bring back what an erasure that is under way removes: {'; '.join(named)}{more}. Let all stages run, and wait until "
        "a query service has finished it, or finish it with `varve erase TENANT USER`; `varve erasures list TENANT` shows how it stands"
    )
