"""The dead letters of users who are erased: purged, but for those that say that the erasure itself was refused."""

from collections.abc import Sequence

from memory.headers import ERASURE, KIND
from runtime.dead_letters import DeadLetterBox, LetterSelection, LetterWithContent
from runtime.dead_letters.letters import NOT_PURGED
from runtime.dead_letters.words import said_in
from streams.erasure.erased_user import ErasedUser


async def purge_letters(box: DeadLetterBox, tenant: str, users: Sequence[ErasedUser]) -> None:
    """Purges users' dead letters, and takes note of how many there were.

    A user whose erasure a stage has refused gets a problem instead.

    Args:
        box: Has them.
        tenant: Whose users.
        users: They.

    Raises:
        KafkaUnavailableError: If no broker answers.
        TopicMissingError: If there is no dead-letter topic.
    """
    found = await box.of_users(tenant, [each.user for each in users])
    refused = {each.letter.position for letters in found.values() for each in letters if _is_of_an_erasure(each)}
    for user in users:
        letters = found[user.user]
        if of_erasure := [each for each in letters if each.letter.position in refused]:
            user.problem = _problem(of_erasure)
        else:
            user.dead_letters = len(letters)
    positions = frozenset(each.letter.position for user in users if user.problem is None for each in found[user.user])
    if positions:
        await box.purge(LetterSelection(positions=positions, states=NOT_PURGED))


def _problem(refused: Sequence[LetterWithContent]) -> str:
    first = refused[0].letter
    return (
        f"{len(refused)} commands of an erasure were refused, such as the dead letter {first.position.within_topic} of "
        f"{first.metadata.stage} ({first.metadata.reason}: {first.metadata.detail}): mend what it names, `varve dlq redrive` or "
        "`varve dlq purge` it, then run the command again, which goes on"
    )


def _is_of_an_erasure(letter: LetterWithContent) -> bool:
    """Whether it holds a command of an erasure, or what came of one, and nobody has seen to it."""
    value = letter.value or b""
    return letter.letter.state == "open" and (
        (KIND, ERASURE) in letter.headers or "erasure" in said_in(value, "cause") or "erase" in said_in(value, "command")
    )
