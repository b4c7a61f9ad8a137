"""The tenants, keys and schemas that a process knows from the control log."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest

from control import ControlState
from control.access_keys import hash_key
from control.documents import SchemaRef
from control.errors import ControlLogBehindError, UnknownTenantError
from control.key_changes import add_key, add_operator_key
from control.tenant_changes import add_generation, add_tenant, remove_tenant, set_generation, set_tenant
from control.tenants import TenantDirectory
from memory.errors import SchemaError
from memory.schema import scenario
from runtime.clocks import ManualClock
from tests.control_log import apply_change, known_tenants, now_known

NOW = datetime(2025, 1, 1, tzinfo=UTC)


@dataclass
class FollowedTo:
    """ControlView of the log, confirmed at a time of the test's own."""

    state: ControlState = field(default_factory=ControlState)
    confirmed_at: float = 0.0
    is_current: bool = True

    def require_current(self) -> None:
        if not self.is_current:
            raise ControlLogBehindError("the log could not be followed")

    async def wait_for(self, position: int, *, timeout_s: float) -> None:
        raise NotImplementedError("nobody waits here")


def test_a_key_opens_its_tenant_until_it_expires() -> None:
    clock = ManualClock(NOW)
    soon = NOW + timedelta(hours=1)
    knowledge = FollowedTo()
    apply_change(knowledge.state, lambda draft: add_tenant(draft, "acme", schema="companion"))
    apply_change(knowledge.state, lambda draft: add_key(draft, "acme", hash_key("k"), now=NOW, expires=soon))
    apply_change(knowledge.state, lambda draft: add_operator_key(draft, hash_key("o"), now=NOW, role="viewer", expires=soon))
    directory = TenantDirectory(knowledge, clock=clock)
    holder, operator = directory.by_api_key_hash(hash_key("k")), directory.by_operator_key_hash(hash_key("o"))
    assert holder is not None
    assert operator is not None
    assert holder.tenant.id == "acme"
    assert [operator.may(role) for role in ("viewer", "operator", "admin")] == [True, False, False]
    assert directory.by_api_key_hash(hash_key("o")) is None, "an operator's key opens no tenant"
    assert directory.by_operator_key_hash(hash_key("k")) is None
    assert directory.by_api_key_hash(hash_key("\udc80")) is None
    clock.advance(timedelta(hours=1))
    assert directory.by_api_key_hash(hash_key("k")) is None
    assert directory.by_operator_key_hash(hash_key("o")) is None


def test_outdated_knowledge_answers_no_question() -> None:
    knowledge = FollowedTo()
    apply_change(knowledge.state, lambda draft: add_tenant(draft, "acme", schema="companion"))
    directory = TenantDirectory(knowledge)
    knowledge.is_current = False
    for ask in (
        lambda: directory.get("acme"),
        lambda: directory.by_api_key_hash(hash_key("k")),
        lambda: directory.by_operator_key_hash(hash_key("k")),
        lambda: directory.schema_of("acme"),
        directory.all,
        directory.require_current,
    ):
        with pytest.raises(ControlLogBehindError, match="could not be followed"):
            ask()


def test_an_unknown_name_is_certain_only_later() -> None:
    knowledge, now = FollowedTo(), 10.0
    directory = TenantDirectory(knowledge, monotonic=lambda: now)
    for confirmed_at in (9.0, 10.0):
        knowledge.confirmed_at = confirmed_at
        with pytest.raises(ControlLogBehindError, match="not known yet"):
            directory.get("acme")
        with pytest.raises(ControlLogBehindError, match="not known yet"):
            directory.schema(SchemaRef(name="notes", revision=1))
    knowledge.confirmed_at = 10.1
    with pytest.raises(UnknownTenantError, match="varve tenants add"):
        directory.get("acme")
    with pytest.raises(SchemaError, match="no schema notes@1"):
        directory.schema(SchemaRef(name="notes", revision=1))
    now = 30.0
    with pytest.raises(ControlLogBehindError):
        directory.get("acme")


def test_one_batch_gets_one_answer_for_an_unknown_name() -> None:
    """A batch with an answer "not yet" is handled again: otherwise two records of one unknown tenant would block it forever."""
    knowledge = FollowedTo()
    times = iter([10.0, 45.0, 45.0, 46.5, 54.0])
    directory = TenantDirectory(knowledge, monotonic=lambda: next(times))
    with pytest.raises(ControlLogBehindError):
        directory.get("nobody")
    knowledge.confirmed_at = 10.5
    for _ in range(4):
        with pytest.raises(UnknownTenantError):
            directory.get("nobody")


def test_many_unknown_names_use_bounded_memory() -> None:
    directory = TenantDirectory(FollowedTo(), monotonic=lambda: 1.0)
    for number in range(25_000):
        with pytest.raises(ControlLogBehindError):
            directory.get(f"nobody-{number}")
    assert len(directory._missed) <= 10_000


def test_a_generation_has_its_own_schema() -> None:
    directory = known_tenants({"acme": "companion"})
    now_known(directory, lambda draft: add_generation(draft, "acme", "v2", schema="meetings"))
    assert directory.schema_of("acme").name == "companion"
    assert directory.schema_of("acme", "v2").name == "meetings"
    now_known(directory, lambda draft: set_generation(draft, "acme", "v2"))
    assert directory.schema_of("acme").name == "meetings"
    assert directory.schema_of("acme", "gone").name == "companion"


def test_a_schema_is_parsed_once_a_revision() -> None:
    directory = known_tenants({"acme": "companion"})
    first = directory.schema_of("acme")
    assert directory.schema_of("acme") is first
    now_known(directory, lambda draft: set_tenant(draft, "acme", schema=replace(scenario("companion"), description="Another.")))
    assert directory.schema_of("acme").description == "Another."
    assert directory.schema(SchemaRef(name="companion", revision=1)) is first


def test_a_removed_tenant_is_unknown() -> None:
    directory = known_tenants({"acme": "companion", "umbrella": "companion"})
    now_known(directory, lambda draft: remove_tenant(draft, "acme"))
    assert [tenant.id for tenant in directory.all()] == ["umbrella"]
    with pytest.raises(UnknownTenantError):
        directory.get("acme")


def test_a_tenant_that_cannot_be_read_waits() -> None:
    knowledge = FollowedTo(confirmed_at=99.0)
    apply_change(knowledge.state, lambda draft: add_tenant(draft, "acme", schema="companion"))
    directory = TenantDirectory(knowledge, monotonic=lambda: 1.0)
    knowledge.state.take(b"tenant/acme", b"not JSON", offset=3)
    with pytest.raises(ControlLogBehindError, match="newer version of Varve, or is damaged"):
        directory.get("acme")
