"""A session's state survives its bytes, whatever its messages contain."""

from hypothesis import given
from hypothesis import strategies as st

from streams.stages.sessions.closed_windows import ClosedWindow, PlacesPage, WindowOfUser
from streams.stages.sessions.codec import SessionCodec
from streams.stages.sessions.known_ids import DedupPage
from streams.stages.sessions.partition_rows import LogTime, OpenWindowMark
from streams.stages.sessions.windows import SessionState

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
RAWS = st.lists(st.tuples(st.binary(max_size=40), NAMES, NAMES), max_size=6)


@st.composite
def states(draw: st.DrawFn) -> SessionState:
    messages = draw(RAWS)
    raw_messages = [raw for raw, _, _ in messages]
    return SessionState(
        tenant=draw(NAMES),
        session=draw(NAMES),
        sequence=draw(st.integers(0, 2**40)),
        authors=[author for _, _, author in messages],
        hidden=draw(st.sets(st.integers(0, len(messages) - 1))) if messages else set(),
        raw_messages=raw_messages,
        ids=[name for _, name, _ in messages],
        tokens=draw(st.integers(0, 10_000)),
        size=sum(len(raw) + 1 for raw in raw_messages),
        first_offset=draw(st.integers(-1, 2**60)),
        last_offset=draw(st.integers(-1, 2**60)),
        last_event_ms=draw(st.integers(-(2**50), 2**50)),
        oldest_page=draw(st.integers(0, 2**40)),
        newest_page=draw(st.integers(-1, 2**40)),
        redriven_origins=draw(st.lists(NAMES, max_size=5)),
        traces=draw(st.lists(NAMES, max_size=6)),
    )


@given(state=states())
def test_a_state_survives_its_bytes(state: SessionState) -> None:
    codec = SessionCodec()
    again = codec.decode(codec.encode(state))
    assert again == state
    assert codec.encode(again) == codec.encode(state)


@st.composite
def closed_windows(draw: st.DrawFn) -> ClosedWindow:
    messages = draw(st.lists(st.tuples(st.binary(max_size=40), NAMES, NAMES), min_size=1, max_size=6))
    users = tuple(dict.fromkeys(author for _, _, author in messages))
    return ClosedWindow(
        tenant=draw(NAMES),
        session=draw(NAMES),
        sequence=draw(st.integers(0, 2**31)),
        closed_by=draw(st.sampled_from(["pause", "flush", "user"])),
        tokens=draw(st.integers(0, 10_000)),
        first_offset=draw(st.integers(0, 2**60)),
        last_offset=draw(st.integers(0, 2**60)),
        last_event_ms=draw(st.integers(-(2**40), 2**40)),
        messages=tuple(raw for raw, _, _ in messages),
        ids=tuple(name for _, name, _ in messages),
        authors=tuple(author for _, _, author in messages),
        users=users,
        is_shared=draw(st.booleans()),
        revision=draw(st.integers(0, 9)),
        hidden=draw(st.frozensets(st.integers(0, len(messages) - 1))),
    )


PLACES = st.builds(PlacesPage, st.binary(max_size=64))
MARKS = st.builds(WindowOfUser, st.binary(max_size=40), st.integers(0, 2**31))


@given(row=closed_windows() | PLACES | MARKS)
def test_closed_windows_survive_their_bytes(row: ClosedWindow | PlacesPage | WindowOfUser) -> None:
    assert SessionCodec().decode(SessionCodec().encode(row)) == row


@given(st.lists(st.tuples(st.integers(0, 40), st.lists(st.binary(min_size=12, max_size=12), max_size=4)), max_size=8))
def test_a_page_finds_the_newest_window_of_an_id(windows: list[tuple[int, list[bytes]]]) -> None:
    page, expected = PlacesPage(), dict[bytes, int]()
    for sequence, digests in windows:
        page = page.with_window(sequence, digests)
        expected |= dict.fromkeys(digests, sequence)
    assert {digest: page.sequence_of(digest) for digest in expected} == expected
    assert page.sequence_of(b"no such id..") is None


MINUTES = st.integers(-(2**60), 2**60)
TIMES = st.builds(LogTime, MINUTES, st.none() | MINUTES)


@given(row=TIMES | st.builds(DedupPage, MINUTES, st.binary(max_size=60)) | st.just(OpenWindowMark()))
def test_pages_marks_and_time_survive_their_bytes(row: DedupPage | LogTime | OpenWindowMark) -> None:
    assert SessionCodec().decode(SessionCodec().encode(row)) == row
