"""The frames of the Edge owner's protocol."""

import asyncio
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.edge.protocol import MAX_FRAME_BYTES, BodyReader, Frame, error_from_header, error_header, read_frame
from stores.errors import ModelMismatchError, StoreError, StoreRejectedError, StoreUnavailableError

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


async def read_all(data: bytes) -> list[Frame]:
    reader = asyncio.StreamReader()
    reader.feed_data(data)
    reader.feed_eof()
    frames: list[Frame] = []
    while (frame := await read_frame(reader)) is not None:
        frames.append(frame)
    return frames


@given(st.lists(st.builds(Frame, st.dictionaries(st.text(), JSON, max_size=4), st.binary(max_size=64)), max_size=4))
def test_frames_are_read_as_they_were_written(frames: list[Frame]) -> None:
    assert asyncio.run(read_all(b"".join(frame.encoded() for frame in frames))) == frames


@given(st.builds(Frame, st.dictionaries(st.text(), JSON, max_size=3), st.binary(max_size=16)), st.data())
def test_a_truncated_frame_is_an_incomplete_read(frame: Frame, data: st.DataObject) -> None:
    whole = frame.encoded()
    cut = data.draw(st.integers(1, len(whole) - 1))
    with pytest.raises(asyncio.IncompleteReadError):
        asyncio.run(read_all(whole[:cut]))


def test_a_frame_too_large_is_refused_on_both_sides() -> None:
    with pytest.raises(StoreRejectedError, match="larger"):
        Frame({}, bytes(MAX_FRAME_BYTES)).encoded()
    with pytest.raises(ValueError, match="larger"):
        asyncio.run(read_all(struct.pack("<II", 16, MAX_FRAME_BYTES)))


@pytest.mark.parametrize("header", [b"[]", b"7", b"{", b"\xff"])
def test_a_header_that_is_no_object_is_refused(header: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - orjson words two of them
        asyncio.run(read_all(struct.pack("<II", len(header), 0) + header))


def test_a_body_is_read_in_order() -> None:
    body = struct.pack("<6f2I", 1, 2, 3, 4, 5, 6, 7, 2**32 - 1)
    numbers = BodyReader(body)
    assert list(numbers.floats(2)) == [1, 2]
    assert [list(row) for row in numbers.rows(2, 2)] == [[3, 4], [5, 6]]
    with pytest.raises(ValueError, match="are not described in its header"):
        numbers.finish()
    assert numbers.numbers(2) == [7, 2**32 - 1]
    numbers.finish()


@pytest.mark.parametrize(("count", "match"), [(3, "shorter"), (-1, "shorter")])
def test_a_body_shorter_than_its_header_is_refused(count: int, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        BodyReader(struct.pack("<2f", 1, 2)).floats(count)


def test_a_body_of_partial_numbers_is_refused() -> None:
    with pytest.raises(ValueError, match="32-bit"):
        BodyReader(b"abc")


@pytest.mark.parametrize("kind", [StoreRejectedError, StoreUnavailableError, ModelMismatchError])
def test_errors_keep_their_type_in_a_header(kind: type[StoreError]) -> None:
    arrived = error_from_header(error_header(kind("because")))
    assert type(arrived) is kind
    assert str(arrived) == "because"


def test_an_error_of_the_engine_is_unavailability() -> None:
    assert type(error_from_header(error_header(Exception("No space left on device")))) is StoreUnavailableError
