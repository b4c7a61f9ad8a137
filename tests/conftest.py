"""Fixtures that start the real servers, once for the whole run: embedded ones, or containers with ``VARVE_TEST_STACK=containers``."""

import asyncio
import gc
import json
import os
import sys
import tempfile
import uuid
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase
from hypothesis import settings as hypothesis_settings

from models.credentials import credential_watch
from models.embedding.build import build_embedder
from models.embedding.port import Embedder
from runtime.clocks import ManualClock
from runtime.dead_letters import DeadLetterBox
from runtime.kafka import Producer, create_topics
from runtime.redis.client import GuardedRedis, open_redis
from runtime.settings import EmbeddingSettings, KafkaSettings, Settings
from tests import memory_folder
from tests.freed_memory import return_freed_memory
from tests.letter_flow import NOON, LetterFlow
from tests.one_broker import one_broker
from tests.redis_server import RedisServer, own_keys
from tests.shared_kafka import SharedKafka, broker_for_tests
from varve.embedded.redis import EmbeddedRedis, redis_executable
from varve.supervisor.process import ManagedProcess, ProcessSpec

# No test fails for being slow: the machine may be busy. Without VARVE_TEST_EXAMPLES, each run has the same examples, so that a failure
# comes from the change under test; `make properties` draws new ones.
EXAMPLES = os.environ.get("VARVE_TEST_EXAMPLES")
hypothesis_settings.register_profile(
    "varve",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    max_examples=int(EXAMPLES or "50"),
    derandomize=EXAMPLES is None,
)
hypothesis_settings.load_profile("varve")
# For deliberate defects, whose smallest example nobody reads.
hypothesis_settings.register_profile("mutants", hypothesis_settings.get_profile("varve"), phases=(Phase.explicit, Phase.generate))

# Brokers of tests live for seconds: code that the JVM's optimising compiler makes would take more CPU than it saves.
os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1")

ROOT = Path(__file__).parents[1]
FORBID_SKIPS = os.environ.get("VARVE_FORBID_SKIPS") == "1"
CONTAINERS = os.environ.get("VARVE_TEST_STACK", "embedded") == "containers"
IN_MEMORY = pytest.StashKey[Path | None]()
SHARED_KAFKA = pytest.StashKey[SharedKafka]()
LONGEST_FILES = (
    "tests/streams/test_erasure_of_group_chats.py",
    "tests/streams/test_grown_topics.py",
    "tests/streams/test_replay_after_erasure.py",
    "tests/varve/test_backup_drill.py",
    "tests/streams/operations/erasure/test_erasure.py",
    "tests/streams/test_interrupted_erasure.py",
    "tests/api/webhooks/test_several_processes.py",
    "tests/streams/test_deadly_records.py",
    "tests/streams/operations/reextraction/test_reextraction_flow.py",
    "tests/streams/test_erasure_of_everything.py",
    "tests/api/test_api_document.py",
    "tests/streams/test_killed_edits.py",
    "tests/streams/test_erasure_machine.py",
    "tests/varve/imports/test_import_command.py",
    "tests/streams/test_tenant_out_of_budget.py",
    "tests/streams/operations/erasure/test_alike_names.py",
    "tests/extraction/offline/test_pattern_growth.py",
    "tests/streams/test_unfinished_commands.py",
    "tests/varve/test_dev_stack.py",
    "tests/streams/operations/test_replay.py",
    "tests/test_documented_commands.py",
    "tests/streams/test_killed_commands.py",
    "tests/evaluation/test_compare.py",
    "tests/api/test_hostile_requests.py",
    "tests/varve/test_command_line.py",
    "tests/varve/test_interrupted_commands.py",
    "tests/stores/test_isolation_machine.py",
    "tests/streams/test_linked_notes.py",
    "tests/streams/operations/retention/test_retention.py",
    "tests/streams/test_switching_generations.py",
    "tests/varve/test_demo.py",
    "tests/runtime/test_kafka_connecting.py",
    "tests/streams/operations/reextraction/test_killed_reextraction.py",
    "tests/evaluation/test_extraction_command.py",
    "tests/api/webhooks/test_webhook_delivery.py",
    "tests/streams/test_erasure_amid_writes.py",
    "tests/api/test_edge_values.py",
    "tests/streams/test_erasure_over_http.py",
    "tests/varve/test_embedded_servers.py",
    "tests/varve/test_dev_method.py",
    "tests/varve/test_recall_command.py",
    "tests/streams/test_erased_edits.py",
    "tests/varve/test_memory_commands.py",
    "tests/api/test_control_routes.py",
    "tests/streams/test_generations.py",
    "tests/streams/operations/test_trust.py",
    "tests/api/test_overload.py",
)
"""The files that take 45 seconds or more of a whole run, the longest first."""


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Lets the tests write into memory. Workers have it from the process that starts them."""
    folder = config.stash[IN_MEMORY] = None if CONTAINERS else memory_folder.enter()
    if folder is not None and config.option.basetemp is None:
        config.option.basetemp = str(folder / "p")


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Gives each worker process of pytest-xdist the address of the broker that all of them share."""
    if CONTAINERS:
        return
    stash = node.config.stash
    if SHARED_KAFKA not in stash:
        stash[SHARED_KAFKA] = SharedKafka()
    node.workerinput["kafka"] = stash[SHARED_KAFKA].bootstrap


@pytest.hookimpl(wrapper=True)
def pytest_sessionstart(session: pytest.Session) -> Generator[None]:
    """Starts the shared broker while the worker processes collect the tests."""
    yield
    if (shared := session.config.stash.get(SHARED_KAFKA, None)) is not None:
        shared.start()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Removes what the tests wrote into memory, unless one failed: then its files are there until the next run."""
    if (shared := session.config.stash.get(SHARED_KAFKA, None)) is not None:
        shared.stop()
    folder = session.config.stash.get(IN_MEMORY, None)
    if folder is not None and exitstatus == 0:
        memory_folder.leave(folder)


@pytest.fixture(autouse=True)
def _no_refused_keys() -> None:
    """Forgets the API keys that endpoints of other tests refused: a process counts them as long as it runs."""
    credential_watch.cache_clear()


@pytest.fixture(autouse=True, scope="module")
def _returned_memory() -> Iterator[None]:
    """Returns freed memory to the system after each file: the models keep it otherwise, up to gigabytes in each process of a whole run."""
    yield
    gc.collect()
    return_freed_memory()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keeps the garbage collector away from the modules and the tests, which stay until the end: each of its runs would go through them."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Orders the files so that both cores are busy until the end.

    The files that wait for servers and those that compute are mixed: together, either would leave the cores idle or wait for them. Of
    each kind the longest come first: begun last, one of them would run on by itself while the other workers have nothing left.
    """
    files: dict[str, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path.relative_to(ROOT).as_posix(), []).append(item)
    ranks = {name: rank for rank, name in enumerate(LONGEST_FILES)}
    longest_first = sorted(files, key=lambda name: ranks.get(name, len(ranks)))
    waiting = [name for name in longest_first if any(each.get_closest_marker("integration") for each in files[name])]
    computing = [name for name in longest_first if name not in set(waiting)]
    places = {name: (index + 0.5) / len(group) for group in (waiting, computing) for index, name in enumerate(group)}
    items[:] = [item for name in sorted(files, key=places.__getitem__) for item in files[name]]


@pytest.fixture(scope="session")
def kafka(request: pytest.FixtureRequest) -> Iterator[str]:
    """The bootstrap address of a real broker; tests keep apart by ``topic_prefix``. Auto-creation of topics is off."""
    if (shared := getattr(request.config, "workerinput", {}).get("kafka")) is not None:
        yield shared
        return
    if CONTAINERS:
        from testcontainers.community.kafka import KafkaContainer

        with KafkaContainer("confluentinc/cp-kafka:8.1.0").with_kraft().with_env("KAFKA_AUTO_CREATE_TOPICS_ENABLE", "false") as container:
            yield container.get_bootstrap_server()
        return
    with tempfile.TemporaryDirectory(prefix="varve-kafka-") as folder:
        broker = broker_for_tests(Path(folder))
        with _running_process(broker.prepare()):
            yield broker.bootstrap


@pytest.fixture
async def embedder() -> AsyncIterator[Embedder]:
    """The real MiniLM."""
    pytest.importorskip("ctranslate2", reason="the embedded extra is not installed")
    embedder = build_embedder(EmbeddingSettings(), cache=Settings().cache_path)
    yield embedder
    await embedder.close()


@pytest.fixture
async def local_llm(tmp_path: Path) -> AsyncIterator[dict[str, str]]:
    """The ``base_url`` and the ``model`` of llama.cpp's server with Gemma 3 270M, in a separate process."""
    pytest.importorskip("xllamacpp", reason="the local-llm extra is not installed")
    server = await asyncio.create_subprocess_exec(
        # llama.cpp's threads wait for each other in busy loops: next to other tests, two take longer than one.
        *(sys.executable, "-m", "models.llm.local", "--folder", str(tmp_path), "--context-tokens", "6144", "--threads", "1"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert server.stdout is not None
    try:
        async with asyncio.timeout(120):
            ready = json.loads(await server.stdout.readline())
        yield ready
    finally:
        if server.returncode is None:
            server.terminate()
            async with asyncio.timeout(60):
                await server.wait()


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """The address of a real Redis server, empty at first; tests keep apart by key prefix."""
    if CONTAINERS:
        from testcontainers.community.redis import RedisContainer

        with RedisContainer("redis:7") as container:
            yield f"redis://{container.get_container_host_ip()}:{container.get_exposed_port(6379)}/0"
        return
    with tempfile.TemporaryDirectory(prefix="varve-redis-") as folder:
        server = EmbeddedRedis(data=Path(folder))
        with _running_process(server.prepare()):
            yield server.url


@pytest.fixture
async def redis(redis_url: str, topic_prefix: str) -> AsyncIterator[GuardedRedis]:
    """A client of the real Redis server, with keys of this test's own; the stages of a flow use the same ones."""
    async with open_redis(own_keys(redis_url, topic_prefix)) as redis:
        yield redis


@pytest.fixture
def mortal_redis() -> Iterator[RedisServer]:
    """A real Redis of the test's own, not started yet."""
    with tempfile.TemporaryDirectory(prefix="redis-") as folder:
        server = RedisServer(redis_executable(), folder)
        yield server
        server.kill()


@pytest.fixture
def topic_prefix() -> str:
    """A prefix for this test's topics and consumer groups, so that no test sees those of another."""
    return f"t{uuid.uuid4().hex[:12]}."


@pytest.fixture
def make_settings(kafka: str, topic_prefix: str, tmp_path: Path) -> Callable[..., Settings]:
    """Makes settings that reach the real broker, with topics and a data folder of this test's own.

    It takes what :class:`Settings` takes: ``make_settings(kafka=one_broker(partitions=2), redis=RedisSettings(url=redis_url))``.
    """

    def make(**values: Any) -> Settings:
        group: KafkaSettings = values.pop("kafka", one_broker())
        reached = group.model_copy(update={"bootstrap": kafka, "topic_prefix": topic_prefix})
        return Settings(**{"data": tmp_path, **values, "kafka": reached})

    return make


@pytest.fixture
async def letters(make_settings: Callable[..., Settings]) -> AsyncIterator[LetterFlow]:
    """Topics of two partitions on the real broker, for records whose dead letters a test looks at; values have 2,000 bytes at most."""
    settings = make_settings(kafka=one_broker(partitions=2, max_record_bytes=2000))
    await create_topics(settings)
    async with Producer(kafka=settings.kafka) as producer:
        yield LetterFlow(settings, producer, DeadLetterBox(settings=settings, producer=producer, clock=ManualClock(NOON)))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """With ``VARVE_FORBID_SKIPS=1`` a skipped integration test fails, unless it is marked ``external``."""
    report = yield
    must_run = item.get_closest_marker("integration") is not None and item.get_closest_marker("external") is None
    if FORBID_SKIPS and must_run and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"an integration test may not be skipped here: {report.longrepr}"
    return report


@contextmanager
def _running_process(spec: ProcessSpec) -> Iterator[None]:
    process = ManagedProcess(spec)
    asyncio.run(process.start())
    try:
        yield
    finally:
        asyncio.run(process.stop())
