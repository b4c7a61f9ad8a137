"""A message's own prose is separated from what was pasted into it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.messages.blocks import blocks_of, prose_of
from tests.growth import LINEAR, growth


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("Why is it slow?\n```c\nfor (int i = 0; i < n; i++) {}\n```\nI wrote it.", ["prose", "pasted", "prose"]),
        ("The log:\n2024-05-06 10:11:12 INFO up\n2024-05-06 10:11:13 ERROR down\nI restarted it.", ["prose", "pasted", "prose"]),
        ('Format it:\n{"name": "Eva", "home": "Rome"}', ["prose", "pasted"]),
        ("| a | b |\n|---|---|\n| 1 | 2 |\nThanks", ["pasted", "prose"]),
        ("name,city,job\nEva,Rome,nurse\nBob,Oslo,cook", ["pasted"]),
        ("Hi Tom,\nI live in Oslo.\nBest,\nAnn", ["prose", "signature"]),
        ("> I live in Lima\nReally?", ["quoted", "prose"]),
        ("[06/05/24, 10:12] Tom: I live in Lima\nFunny!", ["quoted", "prose"]),
        ("About me:\n- I live in Oslo\n- I'm vegan\nThat is all.", ["prose", "list", "prose"]),
        ("Note: I live in Oslo now; I like it here, and so on.", ["prose"]),
    ],
)
def test_blocks_are_known_by_their_form(text: str, kinds: list[str]) -> None:
    assert [block.kind for block in blocks_of(text)] == kinds


@given(st.text(alphabet='aI >|`-:;{}\n\t,."12', max_size=300))
def test_no_line_is_lost(text: str) -> None:
    blocks = blocks_of(text)
    assert [line.strip() for line in "\n".join(block.text for block in blocks).splitlines() if line.strip()] == [
        line.strip() for line in text.splitlines() if line.strip()
    ]
    assert all(line in text for line in prose_of(blocks).splitlines())


@pytest.mark.parametrize("unit", ["a;", "a,b", "|a", "I live in x: ", "{", "on 1 wrote ", "<@U1|", "<a@b", "a <b@", "@", "<@", "< @"])
def test_a_long_line_is_read_in_linear_time(unit: str) -> None:
    assert growth(blocks_of.__wrapped__, lambda size: unit * (size // len(unit)), size=20_000) < LINEAR
