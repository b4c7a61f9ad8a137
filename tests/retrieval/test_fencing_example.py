"""The example of `docs/operate/security.md`: a recalled instruction stays between the marks, whatever it contains."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.security_page import recipe

RESULTS = st.lists(st.fixed_dictionaries({"content": st.text(), "event_time": st.just("2024-05-01T00:00:00Z")}), max_size=3)


@given(RESULTS)
def test_the_fence_of_the_example_holds(results: list[dict[str, Any]]) -> None:
    names: dict[str, Any] = {}
    exec("\n".join(recipe("python")), names)
    system, user = names["with_memories"]("Where do I live?", results)
    mark, *notes, end, blank, question = user["content"].split("\n")
    assert (end, blank, question) == (mark, "", "Where do I live?")
    assert mark in system["content"]
    notes = [note for note in notes if note]
    assert [json.loads(note)["said"] for note in notes] == [each["content"] for each in results]
    assert all(note.isascii() and mark not in note for note in notes)
