"""An entity is a user's own if its key names the user in the part that is the user's."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.keys import entity_key
from operators.entities.entity_keys import belongs_to_user
from tests.operators.sport import SCHEMA

LOG = replace(SCHEMA.entity_types[0], keys=("user", "kind"))
SHARED = replace(SCHEMA.entity_types[0], keys=("kind", "week"))
PART = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)


@given(PART, PART, PART)
def test_a_key_names_its_user(user: str, kind: str, other: str) -> None:
    assert belongs_to_user(LOG, entity_key(user, kind), user)
    assert belongs_to_user(LOG, entity_key(user, kind), other) == (user == other)


@given(PART, PART)
def test_a_shared_entity_has_no_owner(user: str, other: str) -> None:
    """A topic may have a user's name."""
    assert not belongs_to_user(SHARED, entity_key(user, other), user)
    assert belongs_to_user(LOG, entity_key(other, user), user) == (user == other)


def test_a_key_is_compared_decoded() -> None:
    assert belongs_to_user(LOG, entity_key("zoë/x", "run"), "zoë/x")
    assert not belongs_to_user(LOG, entity_key("zoë/x", "run"), "zo%C3%AB%2Fx")


@pytest.mark.parametrize("key", ["", "ann//", "zoë/run", "%ff/run"])
def test_an_unreadable_key_has_no_owner(key: str) -> None:
    assert not belongs_to_user(LOG, key, "ann")


def test_no_key_is_owned_without_a_user() -> None:
    assert not belongs_to_user(LOG, entity_key("None", "run"), None)


def test_a_key_of_other_length_is_read() -> None:
    """A schema's keys may have changed since."""
    assert belongs_to_user(LOG, entity_key("ann"), "ann")
    assert belongs_to_user(LOG, entity_key("ann", "run", "more"), "ann")
