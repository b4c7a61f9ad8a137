"""A person who repeats a recalled fact makes a new statement, not an echo."""

import pytest

from extraction.echo_filter import is_echo
from memory.records import Message
from memory.texts.text import content_hash
from tests.extraction.windows import BEGIN

OSLO, CAT = "I live in Oslo.", "My cat is called Miso."
HASHES = frozenset(map(content_hash, (OSLO, CAT, "Vivo en Oslo.", "Ann lives in Oslo.")))


def message(text: str, role: str) -> Message:
    return Message.model_validate({"tenant": "acme", "user": "ann", "session": "s", "role": role, "text": text, "event_time": BEGIN})


@pytest.mark.parametrize("text", [OSLO, f"Hello!\n{OSLO}", "Vivo en Oslo."])
def test_a_users_own_sentence_is_no_echo(text: str) -> None:
    assert not is_echo(message(text, "user"), HASHES)


@pytest.mark.parametrize("text", [f"{OSLO}\n{CAT}", f"- {OSLO}", "Ann lives in Oslo."])
def test_lists_and_third_persons_are_echoes(text: str) -> None:
    assert is_echo(message(text, "user"), HASHES)


def test_an_assistant_restates_nothing() -> None:
    assert is_echo(message(OSLO, "assistant"), HASHES)
