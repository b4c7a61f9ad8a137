"""The rules give the same results whether they are tried on every text or only on texts with their required literals."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.facts.items import CONVERSATIONS, SHIPPED, read_items
from extraction.offline.drafting import read_window
from extraction.offline.events.quantities import quantities_of
from extraction.offline.factuality import moods
from extraction.offline.rewriting.spoken_style import in_standard_english
from memory.dates import mentions
from memory.messages.blocks import blocks_of
from memory.records import Window
from memory.texts.prefiltered_patterns import prefilter_disabled
from tests.extraction.offline.windows import window_of

_EVERY = 16
"""Of so many shipped items one is read."""
_FULL_WINDOW = 40
"""Messages after which a window closes."""


def _read(windows: Sequence[Window]) -> list[object]:
    """Reads windows with all rules, without what they keep of texts that they read before."""
    moods._read.cache_clear()
    mentions._dates_in.cache_clear()
    in_standard_english.cache_clear()
    blocks_of.cache_clear()
    return [(read_window(each, frozenset()), [list(quantities_of(message.text)) for message in each.messages]) for each in windows]


def _texts() -> list[str]:
    return [message.text for item in read_items(SHIPPED)[::_EVERY] for message in item.messages]


@pytest.mark.parametrize("path", [SHIPPED, CONVERSATIONS], ids=["sentences", "conversations"])
def test_shipped_messages_give_equal_results(path: Path) -> None:
    windows = [window for item in read_items(path)[::_EVERY] for window in item.windows()]
    with prefilter_disabled():
        expected = _read(windows)
    assert _read(windows) == expected


def test_each_text_of_a_window_is_read_once() -> None:
    window = window_of(*(f"I moved to flat {number} last Friday." for number in range(_FULL_WINDOW)))
    _read([window])
    caches = (in_standard_english, blocks_of, mentions._dates_in)
    read = [each.cache_info().misses for each in caches]
    read_window(window, frozenset())
    assert [each.cache_info().misses for each in caches] == read


# Deferred: every process of a whole run imports this file, and one of them runs it.
@given(
    st.lists(st.lists(st.deferred(lambda: st.sampled_from(_texts())), min_size=1, max_size=3).map(" ".join), min_size=1, max_size=3),
    st.data(),
)
def test_mixed_texts_give_equal_results(texts: list[str], data: st.DataObject) -> None:
    cut = [each[data.draw(st.integers(0, len(each) // 2)) :] for each in texts]
    window = window_of(*(each or "Hi." for each in cut))
    with prefilter_disabled():
        expected = _read([window])
    assert _read([window]) == expected
