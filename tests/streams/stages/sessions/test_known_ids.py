"""A message that comes again within a day, or among a session's newest 20,000, counts once; the memory for it is bounded."""

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from memory.headers import COMMAND, KIND
from memory.keys import encode_key
from memory.records import Message, SessionCommand, Window
from runtime.kafka import OutgoingRecord
from runtime.metrics import Metrics
from runtime.settings import KafkaSettings, SessionSettings
from streams.engine.records import ConsumedRecord
from streams.engine.tasks.batch import Batch
from streams.stages.sessions import id_pages, known_ids
from streams.stages.sessions.codec import SessionCodec
from streams.stages.sessions.handler import SessionsHandler
from tests.control_log import known_tenants
from tests.streams.harness import APPENDED_AT, InMemoryRows, PartitionHarness, delivered, plain_settings

NewStage = Callable[..., PartitionHarness]


@pytest.fixture(scope="module")
def assigned() -> Iterator[NewStage]:
    with tempfile.TemporaryDirectory() as folder:
        limits = SessionSettings(message_count=3, message_cap=4, wait_timeout_s=10_000_000)
        settings = plain_settings(Path(folder), kafka=KafkaSettings(partitions=1), sessions=limits)
        tenants = known_tenants({"acme": "companion"})

        def assign(rows: InMemoryRows | None = None) -> PartitionHarness:
            handler = SessionsHandler(partition=0, settings=settings, tenants=tenants, tail=None, metrics=Metrics())
            return PartitionHarness(handler, SessionCodec(), rows)

        yield assign


def message(offset: int, id: str, *, session: str = "s1", user: str = "ada", at: datetime = APPENDED_AT) -> ConsumedRecord:
    value = Message(tenant="acme", user=user, session=session, id=id, text="hello", event_time=APPENDED_AT).to_json()
    return delivered("messages", offset, encode_key("acme", session), value, appended_at=at)


def flush(offset: int, *, at: datetime = APPENDED_AT) -> ConsumedRecord:
    command = SessionCommand(command="flush", tenant="acme").to_json()
    return delivered("messages", offset, encode_key("acme"), command, headers=((KIND, COMMAND),), appended_at=at)


def taken(batches: list[Batch]) -> Counter[tuple[str, str]]:
    windows = [Window.from_json(output.value or b"") for batch in batches for output in batch.outputs]
    return Counter((window.session, each.id or "") for window in windows for each in window.messages)


async def test_a_thousand_messages_sent_twice_count_once(assigned: NewStage) -> None:
    stage = assigned()
    sent = [f"m{number}" for number in range(1_000)]
    log = [message(offset, id) for offset, id in enumerate(sent + sent)]
    batches = [await stage.process(log[start : start + 100]) for start in range(0, len(log), 100)]
    batches.append(await stage.process([flush(len(log))]))
    assert taken(batches) == Counter({("s1", id): 1 for id in sent})


SIMILAR_DIGESTS = st.lists(st.sampled_from([bytes(4), bytes([1, 0, 0, 0])]), min_size=3, max_size=3).map(b"".join)


@given(st.lists(SIMILAR_DIGESTS, max_size=4), SIMILAR_DIGESTS)
def test_only_whole_digests_are_known(known: list[bytes], asked: bytes) -> None:
    pages = [known_ids.DedupPage(0, b"".join(known[:1])), known_ids.DedupPage(0, b"".join(known[1:]))]
    assert known_ids.KnownIds.of(pages, 0, 0).contains(asked) == (asked in known)


SENDS = st.tuples(st.sampled_from(["s1", "s2"]), st.integers(0, 40), st.sampled_from([0, 1, 59, 61, 1200]))


@examples(max_examples=200)
@given(
    sends=st.lists(SENDS, max_size=70),
    flushed=st.sets(st.integers(0, 70)),
    restarted=st.sets(st.integers(0, 70)),
    batch=st.integers(1, 9),
    full_page=st.sampled_from([1, 5, 400]),
)
async def test_repetitions_of_a_day_change_nothing(
    assigned: NewStage, sends: list[tuple[str, int, int]], flushed: set[int], restarted: set[int], batch: int, full_page: int
) -> None:
    log: list[ConsumedRecord] = []
    at = APPENDED_AT
    for step, (session, number, gap_s) in enumerate(sends):
        at += timedelta(seconds=gap_s)
        log.append(message(len(log), f"m{number}", session=session, at=at))
        if step in flushed:
            log.append(flush(len(log), at=at))
    log.append(flush(len(log), at=at))
    stage, batches = assigned(), []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(known_ids, "FULL_PAGE", full_page)
        for start in range(0, len(log), batch):
            batches.append(await stage.process(log[start : start + batch]))
            if start in restarted:
                stage = assigned(InMemoryRows(stage.rows.rows))
    assert taken(batches) == Counter({(session, f"m{number}"): 1 for session, number, _ in sends})


async def test_pages_are_deleted_after_a_day(assigned: NewStage) -> None:
    stage = assigned()
    await stage.process([message(0, "m1"), flush(1)])
    page = known_ids.page_key(encode_key("acme", "s1"), 0)
    day_later = APPENDED_AT + timedelta(days=1)
    await stage.process([message(2, "other", session="s2", at=day_later)])
    assert page in stage.rows.rows
    stage = assigned(InMemoryRows(stage.rows.rows))
    late = [message(3, "other", session="s2", at=day_later + timedelta(hours=2))]
    await stage.process_uncommitted(late)
    stage.state.discard()
    await stage.process(late)
    assert page not in stage.rows.rows, "also where the batch was tried twice"
    batches = [await stage.process([message(4, "m1", at=day_later + timedelta(hours=2)), flush(5)])]
    assert taken(batches)["s1", "m1"] == 1, "it counts as a new one"


async def test_a_page_in_use_outlives_its_first_ids(assigned: NewStage) -> None:
    stage = assigned()
    half_a_day, later = APPENDED_AT + timedelta(hours=20), APPENDED_AT + timedelta(hours=40)
    await stage.process([message(0, "m1"), flush(1), message(2, "m2", at=half_a_day), flush(3, at=half_a_day)])
    batch = await stage.process([message(4, "m2", at=later), flush(5, at=later)])
    assert batch.outputs == []


async def test_a_session_keeps_a_bounded_number_of_ids(assigned: NewStage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_ids, "FULL_PAGE", 4)
    monkeypatch.setattr(id_pages, "MAX_FULL_PAGES", 3)
    stage = assigned()
    await stage.process([message(offset, f"m{offset}") for offset in range(100)])
    pages = [key for key in stage.rows.rows if key.startswith(b"#page/")]
    assert len(pages) == 4
    batch = await stage.process([message(100 + offset, f"m{offset}") for offset in range(88, 100)])
    assert batch.outputs == [], "the newest are known"
    batch = await stage.process([message(200 + offset, f"m{offset}") for offset in range(4)])
    assert len(batch.outputs) == 1, "the oldest are not"


async def test_another_users_ids_hide_no_message(assigned: NewStage) -> None:
    stage = assigned()
    ids = [f"m{number}" for number in range(1, 7)]
    users = ["ada", "bob", "ada", "bob"]
    log = [message(offset, id, user=user) for offset, (user, id) in enumerate((user, id) for user in users for id in ids)]
    batches = [await stage.process([*log, flush(len(log))])]
    windows = [Window.from_json(output.value or b"") for batch in batches for output in batch.outputs]
    stored = Counter((each.user, each.id) for window in windows for each in window.messages)
    assert stored == Counter({(user, id): 1 for user in ("ada", "bob") for id in ids}), "each user's own repetitions are known"


async def test_the_open_window_of_another_user_hides_no_message(assigned: NewStage) -> None:
    stage = assigned()
    batch = await stage.process([message(0, "m1", user="ada"), message(1, "m1", user="bob"), message(2, "m1", user="bob"), flush(3)])
    assert [(window.user, len(window.messages)) for window in map(_window, batch.outputs)] == [("ada", 1), ("bob", 1)]


@given(st.lists(st.tuples(st.text(min_size=1, max_size=4), st.text(max_size=4), st.text(min_size=1, max_size=4)), unique=True, max_size=8))
def test_no_two_messages_share_a_digest(named: list[tuple[str, str, str]]) -> None:
    assert len({known_ids.digest_of(*each) for each in named}) == len(named)


def _window(output: OutgoingRecord) -> Window:
    return Window.from_json(output.value or b"")
