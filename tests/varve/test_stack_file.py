"""The file by which commands find a running stack, and what they take from it."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import orjson
import pytest
from aiokafka.errors import KafkaConnectionError, KafkaTimeoutError

from api.webhooks.errors import TargetRefusedError
from memory.errors import VarveError
from runtime.errors import KafkaUnavailableError
from runtime.kafka.client import kafka_faults
from runtime.settings import KafkaSettings, RedisSettings, ServiceSettings, Settings
from tests.varve.varve_process import VarveProcess
from varve.cli import webhooks
from varve.cli.options import attached_settings, sentence_of, settings_of_stack
from varve.embedded.lifecycle import running_servers, running_stack
from varve.embedded.ports import free_port, preferred_port
from varve.embedded.stack import EmbeddedStack
from varve.embedded.stack_file import StackFile
from varve.embedded.tenants import DeveloperTenant
from varve.errors import FolderInUseError
from varve.supervisor.lock import exclusive_lock
from varve.supervisor.supervisor import Supervisor

Give = Callable[..., None]


@pytest.fixture
def stack(tmp_path: Path) -> StackFile:
    return StackFile(
        pid=os.getpid(),
        bootstrap="127.0.0.1:1",
        topic_prefix="varve24.",
        control_prefix="varve.",
        partitions=24,
        replication_factor=1,
        min_insync_replicas=1,
        redis_url="redis://127.0.0.1:2/0",
        edge_socket=tmp_path / "edge.sock",
        service_url="http://127.0.0.1:3",
        probes={},
        signing_secret="s" * 32,
        webhooks_allow_private=True,
        tenant="dev",
        api_key="key",
    )


@pytest.fixture(params=["environment", "dotenv"])
def give(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Give:
    """Gives settings as variables of the environment, or of a ``.env`` file in the working folder."""
    monkeypatch.chdir(tmp_path)

    def in_environment(**variables: str) -> None:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)

    def in_dotenv(**variables: str) -> None:
        (tmp_path / ".env").write_text("".join(f"{name}={value}\n" for name, value in variables.items()))

    return in_environment if request.param == "environment" else in_dotenv


def test_a_running_stack_is_found(stack: StackFile, tmp_path: Path) -> None:
    stack.write(tmp_path)
    assert (tmp_path / "stack.json").stat().st_mode & 0o077 == 0
    assert StackFile.find(tmp_path) == stack


def test_a_stack_that_has_ended_is_not_found(stack: StackFile, tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    (tmp_path / "stack.json").write_bytes(orjson.dumps(stack.model_dump(mode="json") | {"pid": ended.pid}))
    assert StackFile.find(tmp_path) is None


def test_settings_default_to_those_of_the_stack(stack: StackFile, give: Give) -> None:
    give(VARVE_KAFKA__PARTITIONS="3", VARVE_STORE__TIMEOUT_S="4", VARVE_CLIENT__TIMEOUT_S="5")
    settings = stack.apply_to(Settings())
    assert (settings.kafka.bootstrap, settings.kafka.partitions) == (stack.bootstrap, 3)
    assert (settings.kafka.replication_factor, settings.kafka.min_insync_replicas) == (1, 1)
    assert settings.redis.url == stack.redis_url
    assert settings.webhooks.allow_private
    assert (settings.store.socket, settings.store.timeout_s) == (stack.edge_socket, 4)
    assert (settings.client.url, settings.client.timeout_s) == (stack.service_url, 5)
    assert settings.client.api_key is not None
    assert settings.client.api_key.get_secret_value() == stack.api_key


def test_commands_use_the_topics_of_the_stack(stack: StackFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    settings = stack.apply_to(Settings())
    assert (settings.topic("messages"), settings.kafka.control_prefix, settings.kafka.partitions) == ("varve24.messages", "varve.", 24)


def test_given_settings_win_over_the_stacks(stack: StackFile, give: Give) -> None:
    give(VARVE_KAFKA__BOOTSTRAP="kafka.example:9092", VARVE_CLIENT__API_KEY="mine", VARVE_WEBHOOKS__ALLOW_PRIVATE="false")
    settings = stack.apply_to(Settings())
    assert not settings.webhooks.allow_private
    assert settings.kafka.bootstrap == "kafka.example:9092"
    assert settings.client.api_key is not None
    assert settings.client.api_key.get_secret_value() == "mine"
    assert settings.client.url == stack.service_url


def test_a_given_setting_wins_though_it_equals_its_default(stack: StackFile, give: Give) -> None:
    give(VARVE_KAFKA__BOOTSTRAP=KafkaSettings().bootstrap, VARVE_REDIS__URL=RedisSettings().url)
    settings = stack.apply_to(Settings())
    assert settings.kafka.bootstrap == KafkaSettings().bootstrap
    assert settings.redis.url == RedisSettings().url
    assert settings.store.socket == stack.edge_socket


async def test_a_command_waits_for_a_stack_that_starts(stack: StackFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: asyncio.Queue[str] = asyncio.Queue()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("varve.cli.options.print_notice", said.put_nowait)
    with exclusive_lock(tmp_path):
        async with asyncio.timeout(60):
            waiting = asyncio.create_task(settings_of_stack(tmp_path))
            assert "is starting; waiting for it" in await said.get()
            assert not waiting.done()
            stack.write(tmp_path)
            settings = await waiting
    assert said.empty()
    assert settings.client.api_key is not None
    assert settings.client.api_key.get_secret_value() == "key"


def test_secrets_wait_for_a_stack_that_starts(stack: StackFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("varve.cli.options.print_notice", lambda line: stack.write(tmp_path))
    with exclusive_lock(tmp_path), pytest.raises(TargetRefusedError, match="begins with https"):
        webhooks.add("dev", "ftp://receiver.example", data=tmp_path)


async def test_servers_wait_for_a_stack_that_stops(stack: StackFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("varve.embedded.stack.EmbeddedStack.server_levels", lambda self: [])
    port = free_port()
    monkeypatch.setattr("varve.embedded.stack.preferred_port", lambda _: preferred_port(port))
    said: asyncio.Queue[str] = asyncio.Queue()

    async def start() -> Path:
        async with running_servers(Settings(data=tmp_path), notice=said.put_nowait) as settings:
            return settings.data

    with exclusive_lock(tmp_path):
        stack.write(tmp_path)
        with pytest.raises(FolderInUseError, match="stop it"):
            await start()
        assert said.empty(), "a stack that runs is not waited for"
        StackFile.remove(tmp_path)
        starting = asyncio.create_task(start())
        assert "starting or stopping" in await said.get()
        assert preferred_port(port) == port, "a command that starts no service leaves its port to a stack"
    assert await starting == tmp_path


def test_dev_waits_for_a_stack_that_stops(tmp_path: Path) -> None:
    with exclusive_lock(tmp_path), VarveProcess("dev", "--data", str(tmp_path), output=tmp_path / "said") as dev:
        dev.wait_for_output("starting or stopping")
        dev.process.send_signal(signal.SIGINT)
        assert dev.process.wait(60) == 130
        assert not (tmp_path / "logs").exists(), dev.output


@pytest.mark.parametrize("breaks", [False, True])
async def test_the_next_stack_gets_the_same_port(breaks: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    port, stopped = free_port(), asyncio.Event()

    class Stops(Supervisor):
        async def stop(self) -> None:
            assert preferred_port(port) != port, "the service may still listen"
            stopped.set()

    def remove(data: Path) -> None:
        raise OSError(data)

    settings = Settings(data=tmp_path, service=ServiceSettings(port=0))
    stack = EmbeddedStack(settings=settings, service_port=preferred_port(port), tenant=DeveloperTenant("dev"))
    (tmp_path / "dev.key").write_text("key")
    if breaks:
        monkeypatch.setattr(StackFile, "remove", remove)
    with pytest.raises(OSError, match=str(tmp_path)) if breaks else nullcontext():
        async with running_stack(stack, Stops([], notice=lambda _: None)):
            assert not stopped.is_set()
    assert stopped.is_set(), "a file that cannot be removed must not leave processes"
    assert preferred_port(port) == port


async def test_nothing_is_waited_for_where_no_stack_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert (await settings_of_stack(tmp_path)).client.api_key is None


@pytest.mark.parametrize("bootstrap", [None, "127.0.0.1:9092"])
def test_without_a_stack_the_error_names_missing_settings(
    bootstrap: str | None, give: Give, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VARVE_KAFKA__BOOTSTRAP", raising=False)
    if bootstrap is not None:
        give(VARVE_KAFKA__BOOTSTRAP=bootstrap)
    settings = attached_settings(tmp_path)
    assert settings.kafka.bootstrap == "127.0.0.1:9092", "the default works where a Kafka answers there"
    unreachable, refused = _error_of(settings, KafkaConnectionError("no broker")), _error_of(settings, KafkaTimeoutError("too slow"))
    hint = f"no `varve dev` runs on {tmp_path}: start it, name its folder with --data, or set VARVE_KAFKA__BOOTSTRAP"
    assert sentence_of(unreachable) == (hint if bootstrap is None else str(unreachable))
    assert sentence_of(refused) == str(refused)
    with exclusive_lock(tmp_path):
        says = sentence_of(unreachable)
    assert says == (
        f"the `varve dev` on {tmp_path} is starting or stopping: see its output, or {tmp_path / 'logs'}"
        if bootstrap is None
        else str(unreachable)
    )


def test_the_error_names_settings_missing_for_kafka(stack: StackFile, tmp_path: Path) -> None:
    stack.write(tmp_path)
    error = _error_of(attached_settings(tmp_path), KafkaConnectionError("no broker"))
    assert sentence_of(error) == str(error)


def _error_of(settings: Settings, raised: Exception) -> VarveError:
    with pytest.raises(KafkaUnavailableError) as error, kafka_faults("asking", settings.kafka):
        raise raised
    return error.value
