"""A session's state survives its bytes, whatever its messages contain."""

from collections import deque

from hypothesis import given
from hypothesis import strategies as st

from streams.sessions.codec import SessionCodec
from streams.sessions.windows import MAX_RECENT_IDS, SessionState

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
RAWS = st.lists(st.tuples(st.binary(max_size=40), NAMES), max_size=6)


@st.composite
def states(draw: st.DrawFn) -> SessionState:
    messages = draw(RAWS)
    raw_messages = [raw for raw, _ in messages]
    return SessionState(
        tenant=draw(NAMES),
        session=draw(NAMES),
        sequence=draw(st.integers(0, 2**40)),
        user=draw(NAMES),
        raw_messages=raw_messages,
        ids=[name for _, name in messages],
        tokens=draw(st.integers(0, 10_000)),
        size=sum(len(raw) + 1 for raw in raw_messages),
        first_offset=draw(st.integers(-1, 2**60)),
        last_offset=draw(st.integers(-1, 2**60)),
        last_event_ms=draw(st.integers(-(2**50), 2**50)),
        recent_ids=deque(draw(st.lists(NAMES, max_size=5)), maxlen=MAX_RECENT_IDS),
        redriven_origins=draw(st.lists(NAMES, max_size=5)),
    )


@given(state=states())
def test_a_state_survives_its_bytes(state: SessionState) -> None:
    codec = SessionCodec()
    again = codec.decode(codec.encode(state))
    assert again == state
    assert again.recent_ids.maxlen == MAX_RECENT_IDS
    assert codec.encode(again) == codec.encode(state)
