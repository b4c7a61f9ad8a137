import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.json_parser import MOST_REPEATED
from memory.lenient_json import Partial, Repeated, read_json

SCALARS = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=12)
CONTAINERS = st.lists(VALUES, max_size=4) | st.dictionaries(st.text(), VALUES, max_size=4)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('Sure! Here it is:\n{"a": [1, 2]}\nAnything else?', {"a": [1, 2]}),
        ('{"a": [1, 2,], "b": {"c": 3,},}', {"a": [1, 2], "b": {"c": 3}}),
        ('{"a": 1 "b": 2\n"c": 3}', {"a": 1, "b": 2, "c": 3}),
        ('{"a": 1, // one\n "b": 2, # two\n /* three */ "c": 3}', {"a": 1, "b": 2, "c": 3}),
        ("{'a': 'it''s', 'b': 'Ann's dog'}", {"a": "it''s", "b": "Ann's dog"}),
        ("{a: True, b: None, c: NaN, d: false}", {"a": True, "b": None, "c": None, "d": False}),
        ('{"said": "She said "no", twice", "n": 1}', {"said": 'She said "no", twice', "n": 1}),
        ('{"text": "two\nlines", "tab": "a\\tb"}', {"text": "two\nlines", "tab": "a\tb"}),
        ('{"path": "C:\\dir", "n": 2}', {"path": "C:dir", "n": 2}),
        ('{"smile": "\\ud83d\\ude00", "lone": "\\ud800x",}', {"smile": "😀", "lone": "\ufffdx"}),
        ('{"date": 2023-05-08, "n": +3}', {"date": "2023-05-08", "n": 3}),
        ('{"a": [1, 2}, "b": 3}', {"a": [1, 2]}),
        ('{"a": [18446744073709551616, -9223372036854775809, 18446744073709551615],}', {"a": [2.0**64, -(2.0**63), 2**64 - 1]}),
        ('{"a": 1' + "0" * 330 + ', "b": -00012,}', {"a": None, "b": -12}),
        ("<think>maybe {\"a\": 0}?</think>{'a': 1}", {"a": 1}),
        ("{“a”: “b”}", {"a": "b"}),
        ("{„a“: „b“; «c»：(1, 2)，}", {"a": "b", "c": [1, 2]}),
        ('{"a": "b" + "c", "d": """e "f" g""",}', {"a": "bc", "d": 'e "f" g'}),
        ('"{\\"a\\": [1]}"', {"a": [1]}),
        ('{\\"a\\": \\"b\\"}', {"a": "b"}),
        ("{&quot;a&quot;: &quot;b &amp; c&quot;}", {"a": "b & c"}),
        ('{"a": 1, "a": 1, "b": 1, "b": 2}', {"a": 1, "b": Repeated((1, 2))}),
        ("{'a': 1, 'a': 2, 'a': 1}", {"a": Repeated((1, 2))}),
    ],
)
def test_json_as_models_write_it_is_read(text: str, value: Any) -> None:
    assert read_json(text)[0] == value


@given(st.integers(-(10**30), 10**30))
def test_integers_read_equal_from_plain_and_lenient_json(number: int) -> None:
    plain, lenient = read_json(f'{{"n": {number}}}')[0]["n"], read_json(f'{{"n": {number},}}')[0]["n"]
    assert (lenient, type(lenient)) == (plain, type(plain))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": [{"b": 1}, {"b": 2', Partial({"a": Partial([{"b": 1}, Partial({})])})),
        ('{"a": [{"b": 1}, {"b": "tw', Partial({"a": Partial([{"b": 1}, Partial({})])})),
        ('{"a": [{"b": 1}', Partial({"a": Partial([{"b": 1}])})),
        ('{"a": [1, 23', Partial({"a": Partial([1])})),
        ('{"a": tru', Partial({})),
        ('{"a": 1, "b"', Partial({"a": 1})),
        ('{"a": 1, "b":', Partial({"a": 1})),
        ("{", Partial({})),
    ],
)
def test_a_truncated_text_retains_whole_items(text: str, value: Partial) -> None:
    assert read_json(text) == [value]


def test_a_text_without_any_container_holds_nothing() -> None:
    assert read_json("I am sorry, I cannot do that.") == []
    assert read_json("42") == []
    assert read_json("") == []


@given(CONTAINERS)
def test_plain_json_is_read_exactly(value: Any) -> None:
    assert read_json(json.dumps(value)) == [value]


@given(CONTAINERS, st.sampled_from(["```json\n{}\n```", "Here you are: {}", "{} // done"]))
def test_plain_json_in_a_wrapping_is_read_exactly(value: Any, wrapping: str) -> None:
    assert read_json(wrapping.replace("{}", json.dumps(value)))[0] == value


@given(st.text(alphabet=st.sampled_from(list("{}[]\"'`:,\\ \nabtrue0123-.#/*u“”\ud800")), max_size=80) | st.text(max_size=80))
def test_no_text_raises(text: str) -> None:
    read_json(text)


@pytest.mark.parametrize("unit", ["[", "{", '{"a":', '"', "\n", "/*", "<think>", '", ', "'", '["', "\\u", '{"a":"x"\n\n', ","])
@pytest.mark.timeout(20)
def test_long_garbage_is_read_without_backtracking(unit: str) -> None:
    read_json("{" + unit * 100_000)


def test_the_last_repeated_value_is_kept() -> None:
    (value,) = read_json("{" + ", ".join(f'"a": {number}' for number in range(1000)) + "}")

    assert value["a"].values == (*range(MOST_REPEATED - 1), 999)


@pytest.mark.parametrize("text", ["```", "````", "``````", "```json```", "```json\n```", "``` ```json\n{}"])
def test_fences_without_json_hold_nothing(text: str) -> None:
    assert read_json(text) in ([], [{}])
