"""Plan of an embedded stack: the servers it starts, and the settings of its processes."""

from pathlib import Path

import pytest

from runtime.settings import ConsoleSettings, KafkaSettings, RedisSettings, ServiceSettings, Settings
from varve.embedded.edge import EmbeddedEdge
from varve.embedded.ports import DRAWN_PORTS
from varve.embedded.stack import EmbeddedStack
from varve.errors import StartError
from varve.supervisor.supervisor import Program

SERVERS = ["kafka", "redis", "edge"]
WORKERS = ["sessions", "extraction", "events", "entities", "merging", "index", "recalls", "service"]
ELSEWHERE = {
    "VARVE_KAFKA__BOOTSTRAP": "kafka.example:9092",
    "VARVE_KAFKA__SECURITY_PROTOCOL": "SSL",
    "VARVE_REDIS__URL": "redis://redis.example/0",
    "VARVE_STORE__KIND": "server",
    "VARVE_TENANTS_FILE": "/etc/varve/tenants.json",
}


def _programs(stack: EmbeddedStack) -> list[list[str]]:
    return [[member.name for member in level if isinstance(member, Program)] for level in stack.levels()]


def test_servers_start_first_then_topics_then_the_rest(tmp_path: Path) -> None:
    stack = EmbeddedStack(settings=Settings(data=tmp_path))
    assert _programs(stack) == [SERVERS, [], WORKERS]
    assert [member.name for member in stack.levels()[1]] == ["topics"]


SESSION = "VARVE_KAFKA__SESSION_TIMEOUT_S"


def _sessions(stack: EmbeddedStack) -> set[str | None]:
    workers = [member for level in stack.levels() for member in level if isinstance(member, Program) and member.name in WORKERS[:-1]]
    return {member.prepare().environment.get(SESSION) for member in workers}


def test_own_workers_have_long_sessions_unless_set(tmp_path: Path, elsewhere: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only those of the stack's own Kafka: nobody waits for their sessions."""
    assert _sessions(EmbeddedStack(settings=elsewhere)) == {None}
    assert _sessions(EmbeddedStack(settings=elsewhere, throwaway=True)) == {"30.0"}
    monkeypatch.setenv(SESSION, "9")
    assert _sessions(EmbeddedStack(settings=Settings(data=tmp_path), throwaway=True)) == {None}


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Settings:
    for name, value in ELSEWHERE.items():
        monkeypatch.setenv(name, value)
    return Settings(data=tmp_path)


def test_a_server_that_the_settings_name_is_not_started(elsewhere: Settings) -> None:
    stack = EmbeddedStack(settings=elsewhere)
    assert _programs(stack) == [[], [], WORKERS]
    environment = stack.environment()
    assert {name: environment[name] for name in ELSEWHERE} == ELSEWHERE


def test_a_server_given_at_its_default_is_not_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VARVE_KAFKA__BOOTSTRAP", KafkaSettings().bootstrap)
    monkeypatch.setenv("VARVE_REDIS__URL", RedisSettings().url)
    assert _programs(EmbeddedStack(settings=Settings(data=tmp_path))) == [["edge"], [], WORKERS]


def test_a_throwaway_stack_touches_nothing_but_its_own(elsewhere: Settings) -> None:
    stack = EmbeddedStack(settings=elsewhere, throwaway=True)
    assert _programs(stack) == [SERVERS, [], WORKERS]
    environment = stack.environment()
    assert [name for name in ELSEWHERE if environment[name] == ELSEWHERE[name]] == []
    assert stack.settings.kafka.bootstrap.startswith("127.0.0.1:")
    assert stack.settings.tenants_path.parent == elsewhere.data


def test_the_environment_gives_processes_the_stacks_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stack = EmbeddedStack(settings=Settings(data=tmp_path))
    for name, value in stack.environment().items():
        monkeypatch.setenv(name, value)
    read = Settings()
    assert (read.kafka, read.redis, read.store, read.service) == (
        stack.settings.kafka,
        stack.settings.redis,
        stack.settings.store,
        stack.settings.service,
    )
    assert (read.data, read.tenants_path, read.cache_path) == (stack.settings.data, stack.settings.tenants_path, stack.settings.cache_path)


def test_a_too_long_socket_path_is_refused(tmp_path: Path) -> None:
    edge = EmbeddedEdge(data=tmp_path, socket_path=tmp_path / ("x" * 120), log=tmp_path / "log")
    with pytest.raises(StartError, match="too long for a Unix socket"):
        edge.prepare()


def test_the_stack_serves_the_console_by_default(tmp_path: Path) -> None:
    def switch(**given: bool) -> str | None:
        settings = Settings(data=tmp_path, console=ConsoleSettings(**given))
        return EmbeddedStack(settings=settings)._service().environment.get("VARVE_CONSOLE__ENABLED")

    assert (switch(), switch(enabled=True), switch(enabled=False)) == ("true", "true", "false")


def test_the_service_gets_the_port_of_the_settings(tmp_path: Path) -> None:
    chosen = Settings(data=tmp_path, service=ServiceSettings(port=DRAWN_PORTS.stop))
    assert EmbeddedStack(settings=chosen).settings.service.port == DRAWN_PORTS.stop
    assert EmbeddedStack(settings=chosen, service_port=0).settings.service.port in DRAWN_PORTS
    assert EmbeddedStack(settings=Settings(data=tmp_path), throwaway=True).settings.service.port in DRAWN_PORTS
