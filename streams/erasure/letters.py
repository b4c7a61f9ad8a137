"""The dead letters of a user who is erased: purged, but for those that say that the erasure itself was refused."""

from memory.headers import ERASURE, KIND
from runtime.dead_letters import DeadLetterBox, LetterSelection, LetterWithContent
from runtime.dead_letters.letters import NOT_PURGED
from runtime.dead_letters.words import says
from streams.errors import ErasureUnfinishedError


async def purge_letters(box: DeadLetterBox, tenant: str, user: str) -> int:
    """Purges a user's dead letters.

    Args:
        box: Has them.
        tenant: Whose user.
        user: Who.

    Returns:
        How many there were.

    Raises:
        ErasureUnfinishedError: If a stage has refused what tells it of the erasure; says what to do. Nothing is purged.
        KafkaUnavailableError: If no broker answers.
        TopicMissingError: If there is no dead-letter topic.
    """
    letters = await box.of_user(tenant, user)
    refused = [each.letter for each in letters if _is_of_an_erasure(each)]
    if refused:
        first = refused[0]
        raise ErasureUnfinishedError(
            f"{len(refused)} commands of an erasure were refused, such as the dead letter {first.position.within_topic} of "
            f"{first.metadata.stage} ({first.metadata.reason}: {first.metadata.detail}): mend what it names, `varve dlq redrive` or "
            "`varve dlq purge` it, then run the command again, which goes on"
        )
    if letters:
        positions = frozenset(each.letter.position for each in letters)
        await box.purge(LetterSelection(positions=positions, states=NOT_PURGED))
    return len(letters)


def _is_of_an_erasure(letter: LetterWithContent) -> bool:
    """Whether it holds a command of an erasure, or what came of one, and nobody has seen to it."""
    value = letter.value or b""
    return letter.letter.state == "open" and (
        (KIND, ERASURE) in letter.headers or says(value, "cause", "erasure") or says(value, "command", "erase")
    )
