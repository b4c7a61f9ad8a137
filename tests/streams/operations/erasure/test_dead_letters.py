"""The dead letters of users who are erased are purged, except those that stop an erasure."""

import pytest

from memory.headers import ERASURE, KIND, RETRACTION
from memory.keys import distinct_key, encode_key
from memory.records import ErasureCommand, Extraction
from runtime.dead_letters import DeadLetterSelection
from streams.operations.erasure.dead_letters import note_what_entities_lack, purge_letters
from streams.operations.erasure.erased_user import ErasedUser
from streams.operations.erasure.shared_results import SharedResults
from tests.letter_flow import NOON, LetterFlow
from tests.streams.agent_extractions import TENANT
from tests.streams.operations.erasure.shared_window import PART, USER, retraction, shared

pytestmark = pytest.mark.integration


@pytest.fixture
def ann() -> ErasedUser:
    return ErasedUser("acme", "ann", begun_at=NOON, partitions=2)


@pytest.fixture
def bob() -> ErasedUser:
    return ErasedUser("acme", "bob", begun_at=NOON, partitions=2)


async def contribution_refused(letters: LetterFlow, user: str) -> None:
    key, value = encode_key("acme", "tool", "grep"), b'{"tenant": "acme", "user": "%s", "changes": []}' % user.encode()
    await letters.refused("contributions", "entities", key, value, await letters.record("contributions", key, value))


async def message_refused(letters: LetterFlow, user: str) -> None:
    key, value = encode_key("acme", "s"), b'{"tenant": "acme", "user": "%s", "text": 3}' % user.encode()
    await letters.refused("messages", "sessions", key, value, await letters.record("messages", key, value))


async def test_contributions_missing_in_entities_prevent_a_receipt(letters: LetterFlow, ann: ErasedUser, bob: ErasedUser) -> None:
    await contribution_refused(letters, "ann")
    await message_refused(letters, "bob")
    await note_what_entities_lack(letters.box, "acme", [ann, bob])
    assert ann.problem is not None
    assert ann.problem.startswith(f"entities lack 1 contributions of user {ann.subject[:12]}, such as the dead letter ")
    assert "`varve dlq redrive`" in ann.problem
    assert bob.problem is None
    await letters.box.redrive(DeadLetterSelection(stage="entities"))
    ann.problem = None
    await note_what_entities_lack(letters.box, "acme", [ann])
    assert ann.problem is None, "it has come by then"


async def test_dead_letters_of_erasable_users_are_removed(letters: LetterFlow, ann: ErasedUser, bob: ErasedUser) -> None:
    key, command = distinct_key("acme", "ann"), ErasureCommand(tenant="acme", user="ann").to_json()
    at = await letters.record("extractions", key, command)
    await letters.refused("extractions", "events", key, command, at, headers=((KIND, ERASURE),))
    for user in ("ann", "bob", "bob", "eve"):
        await message_refused(letters, user)
    await purge_letters(letters.box, "acme", [ann, bob])
    assert ann.problem is not None
    assert ann.problem.startswith(f"1 commands of the erasure of user {ann.subject[:12]} were refused")
    assert (ann.dead_letters, bob.problem, bob.dead_letters) == (0, None, 2)
    left = [await letters.box.open(each.position) for each in await letters.box.letters(DeadLetterSelection())]
    assert sorted(b'"bob"' in (each.value or b"") for each in left) == [False, False, False]


async def test_superseded_results_of_others_go(letters: LetterFlow, ann: ErasedUser) -> None:
    """They were made from messages of the erased user; a newer revision of the window is kept."""
    results = SharedResults({PART: USER})
    results.add(b"r", retraction(1, "m2").to_json(), ((KIND, RETRACTION),))
    key = encode_key(TENANT, USER)
    for each in (shared(0, {"used grep": ["m1"]}), shared(1, {"used grep": ["m1"]}), shared(0, {}).model_copy(update={"window_id": "w"})):
        at = await letters.record("extractions", key, each.to_json())
        await letters.refused("extractions", "events", key, each.to_json(), at)
    await purge_letters(letters.box, TENANT, [ann], of_others=results)
    left = [await letters.box.open(each.position) for each in await letters.box.letters(DeadLetterSelection())]
    kept = sorted((each.window_id, each.revision) for each in (Extraction.from_json(letter.value or b"") for letter in left))
    assert kept == sorted([(PART, 1), ("w", 0)])
    assert ann.dead_letters == 0
