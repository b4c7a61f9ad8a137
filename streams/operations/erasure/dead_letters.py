"""Purges the dead letters of erased users, except those that block an erasure."""

from collections.abc import Sequence
from contextlib import suppress

from memory.errors import RecordError
from memory.headers import ERASURE, KIND
from memory.records import Extraction
from runtime.dead_letters import DeadLetterBox, DeadLetterSelection, DeadLetterWithContent
from runtime.dead_letters.log import texts_in_field
from runtime.dead_letters.records import NOT_PURGED, DeadLetter
from streams.operations.erasure.erased_user import ErasedUser
from streams.operations.erasure.shared_results import SharedResults
from streams.stages.catalog import STAGES


async def note_what_entities_lack(box: DeadLetterBox, tenant: str, users: Sequence[ErasedUser]) -> None:
    """Gives a problem to each user with contributions that entities have refused: a contribution that never arrived cannot be retracted."""
    found = await box.of_users(tenant, [each.user for each in users])
    for user in users:
        lacking = [each.letter for each in found[user.user] if _is_open(each) and each.letter.metadata.stage == STAGES["entities"].name]
        if lacking:
            user.problem = f"entities lack {len(lacking)} contributions of user {user.subject[:12]}, {_advice(lacking[0])}"


async def purge_letters(box: DeadLetterBox, tenant: str, users: Sequence[ErasedUser], *, of_others: SharedResults | None = None) -> None:
    """Purges users' dead letters, and counts them.

    A user whose erasure a stage has refused gets a problem instead.

    Args:
        box: The dead letters.
        tenant: The tenant of the users.
        users: The users.
        of_others: Other users' results of windows that they shared with the users. Superseded ones in dead letters are purged as well.
    """
    others = of_others.users if of_others is not None else set()
    found = await box.of_users(tenant, [*(each.user for each in users), *others])
    for user in users:
        letters = found[user.user]
        refused = [each.letter for each in letters if _is_open(each) and _is_of_an_erasure(each)]
        if refused:
            user.problem = f"{len(refused)} commands of the erasure of user {user.subject[:12]} were refused, {_advice(refused[0])}"
        else:
            user.dead_letters = len(letters)
    positions = frozenset(each.letter.position for user in users if user.problem is None for each in found[user.user])
    positions |= {
        each.letter.position for user in others for each in found[user] if of_others is not None and _is_superseded(each, of_others)
    }
    if positions:
        await box.purge(DeadLetterSelection(positions=positions, states=NOT_PURGED))


def _advice(letter: DeadLetter) -> str:
    metadata = letter.metadata
    return (
        f"such as the dead letter {letter.position.within_topic} of {metadata.stage} ({metadata.reason}: {metadata.detail}): correct that, "
        "`varve dlq redrive` or `varve dlq purge` the letter, then run the command again to continue"
    )


def _is_open(letter: DeadLetterWithContent) -> bool:
    return letter.letter.state == "open"


def _is_superseded(letter: DeadLetterWithContent, results: SharedResults) -> bool:
    """Whether it holds an extraction that was made from an erased user's messages."""
    if letter.letter.metadata.stage != STAGES["events"].name or KIND in (name for name, _ in letter.headers):
        return False
    with suppress(RecordError):
        return results.is_superseded(Extraction.from_json(letter.value or b""))
    return False


def _is_of_an_erasure(letter: DeadLetterWithContent) -> bool:
    """Whether it holds a command of an erasure, or the result of one."""
    value = letter.value or b""
    return (KIND, ERASURE) in letter.headers or "erasure" in texts_in_field(value, "cause") or "erase" in texts_in_field(value, "command")
