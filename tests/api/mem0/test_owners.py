"""mem0's four ids as Varve's user and session, and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.mem0.owners import ID_FIELDS, Owner, OwnerError, entity_of, user_of_entity

ids = st.one_of(st.none(), st.text(min_size=1, max_size=20))


@given(ids, ids, ids, ids)
def test_an_owner_survives_its_session(user: str | None, agent: str | None, app: str | None, run: str | None) -> None:
    owner = Owner(user_id=user, agent_id=agent, app_id=app, run_id=run)
    if any((user, agent, app, run)):
        assert Owner.of_memory(owner.user, owner.session) == owner


@given(ids, ids, ids, ids)
def test_different_owners_share_no_session(user: str | None, agent: str | None, app: str | None, run: str | None) -> None:
    owner = Owner(user_id=user, agent_id=agent, app_id=app, run_id=run)
    other = Owner(user_id=user, agent_id=agent, app_id=run, run_id=app)
    if any((user, agent, app, run)):
        assert (owner.session == other.session) == (owner == other)


@pytest.mark.parametrize("owner", [Owner(user_id="ann@example.org", run_id="r1"), Owner(agent_id="planner", app_id="shop")])
def test_a_session_does_not_name_its_user(owner: Owner) -> None:
    assert owner.user.split(":")[-1] not in owner.session
    assert owner.session.split("/")[-2:] == (["", "r1"] if owner.run_id else ["shop", ""])


def test_ids_come_from_the_request_or_its_filters() -> None:
    assert Owner.of({"agent_id": "coach"}, {"user_id": "ann"}) == Owner(user_id="ann", agent_id="coach")
    assert Owner.of({"user_id": ""}, {}) is None


@given(st.text(max_size=8), st.tuples(ids, ids, ids, ids))
def test_a_session_names_no_owner_of_another_user(stranger: str, names: tuple[str | None, ...]) -> None:
    owner = Owner(**dict(zip(ID_FIELDS, names, strict=True)))
    if any(names) and stranger not in ("", owner.user):
        assert Owner.of_memory(stranger, owner.session).user == stranger


@pytest.mark.parametrize("value", [True, 1.5, ["ann"], {"in": ["ann"]}, "agent:coach", "run:7", "app:x"])
def test_ids_are_texts_of_users(value: object) -> None:
    with pytest.raises(OwnerError, match="user_id"):
        Owner.of({"user_id": value})
    assert Owner.of({"user_id": 7}) == Owner(user_id="7")


def test_memories_of_other_apis_have_an_owner() -> None:
    assert Owner.of_memory("ann", "monday").fields() == {"user_id": "ann", "agent_id": None, "app_id": None, "run_id": "monday"}


@pytest.mark.parametrize(("user", "entity"), [("ann", ("user", "ann")), ("agent:coach", ("agent", "coach")), ("a:b", ("user", "a:b"))])
def test_users_are_entities_of_mem0(user: str, entity: tuple[str, str]) -> None:
    assert entity_of(user) == entity
    assert user_of_entity(*entity) == user


def test_an_unknown_type_of_entity_is_no_user() -> None:
    assert user_of_entity("robot", "r2") is None
