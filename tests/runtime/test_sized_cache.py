"""Caches keep the latest values up to a size, however many there are."""

import threading
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.sized_cache import SizedCache, sized_cache

KEYS = [b"%d" % number for number in range(6)]


class Counted:
    """Says its texts again, and counts how often it was asked to."""

    def __init__(self, *, most_bytes: int = 1000, entry_bytes: int = 10, growth: int = 2) -> None:
        self.calls = 0
        self.lengthy = sized_cache(most_bytes=most_bytes, entry_bytes=entry_bytes, growth=growth)(self._said)

    def _said(self, text: str, more: tuple[str, ...] = ()) -> list[str]:
        self.calls += 1
        return [text, *more]

    def called_for(self, text: str, more: tuple[str, ...] = ()) -> bool:
        before = self.calls
        assert self.lengthy(text, more) == [text, *more]
        return self.calls > before


def test_the_same_text_gives_the_same_object() -> None:
    counted = Counted()
    assert counted.lengthy("a" * 5, ()) is counted.lengthy("aaaaa", ())
    assert counted.calls == 1


def test_the_least_recently_used_is_evicted_first() -> None:
    counted = Counted()  # fits five entries of 95 characters each
    texts = [letter * 95 for letter in "abcde"]
    assert all(map(counted.called_for, texts))
    assert not counted.called_for(texts[0])
    assert counted.called_for("f" * 95)
    assert not counted.called_for(texts[0])
    assert counted.called_for(texts[1])


@pytest.mark.parametrize(
    ("text", "more"),
    [("x" * 480, ()), ("", ("x" * 240, "y" * 240)), ("中" * 240, ())],
    ids=["one text", "a tuple of texts", "two bytes a character"],
)
def test_a_large_text_replaces_many_small_ones(text: str, more: tuple[str, ...]) -> None:
    counted = Counted()
    small = [f"text {number}" for number in range(10)]
    for each in small:
        counted.called_for(each)
    counted.called_for(text, more)
    assert sum(map(counted.called_for, reversed(small))) >= 8


def test_a_text_above_the_limit_is_kept_exclusively() -> None:
    counted = Counted()
    assert counted.called_for("x" * 10_000)
    assert not counted.called_for("x" * 10_000)
    assert counted.called_for("y")
    assert counted.called_for("x" * 10_000)


def test_a_failure_is_not_remembered() -> None:
    calls: list[str] = []

    def refuse(text: str) -> str:
        calls.append(text)
        raise ValueError(text)

    remembered: Callable[[str], str] = sized_cache(most_bytes=100, entry_bytes=1, growth=1)(refuse)
    for _ in range(2):
        with pytest.raises(ValueError, match="no"):
            remembered("no")
    assert len(calls) == 2


def test_a_text_asked_for_at_once_weighs_once() -> None:
    together = threading.Barrier(4)
    asked: list[str] = []

    def said(text: str) -> str:
        asked.append(text)
        if text.startswith("a"):
            together.wait(timeout=30)
        return text

    remembered: Callable[[str], str] = sized_cache(most_bytes=400, entry_bytes=10, growth=2)(said)
    threads = [threading.Thread(target=remembered, args=("a" * 40,)) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(asked) == 4
    for letter in "abcdabcd":  # four entries fit
        remembered(letter * 40)
    assert len(asked) == 7


@given(
    steps=st.lists(st.tuples(st.sampled_from(["put", "get", "drop"]), st.sampled_from(KEYS), st.integers(0, 20_000)), max_size=60),
    max_bytes=st.integers(0, 60_000),
)
def test_least_recently_used_values_are_evicted(steps: list[tuple[str, bytes, int]], max_bytes: int) -> None:
    cache: SizedCache[bytes, int] = SizedCache(max_bytes=max_bytes)
    latest: list[tuple[bytes, int]] = []
    for step, key, size in steps:
        if step == "put":
            cache.put(key, size, size=size)
            latest = [each for each in latest if each[0] != key] + [(key, size)]
            while sum(each for _, each in latest) > max_bytes and len(latest) > 1:
                latest.pop(0)
        elif step == "drop":
            cache.drop(key)
            latest = [each for each in latest if each[0] != key]
        else:
            used = [each for each in latest if each[0] == key]
            assert cache.get(key) == (used[0][1] if used else None)
            latest = [each for each in latest if each[0] != key] + used
    assert [key for key in KEYS if cache.get(key) is not None] == sorted(key for key, _ in latest)
