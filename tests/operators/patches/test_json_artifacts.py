"""Marks of JSON in a patch that the text does not have are removed; marks that may be intended stay."""

import orjson
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memory.schema.model import ValueType
from operators.errors import RefusedChangeError
from operators.patches.json_artifacts import variants
from operators.patches.patch_edit import Patch, edit, value_of
from tests.growth import LINEAR, growth

WORD = st.sampled_from(["green", "tea", "hiking", "Oslo", "violin", "绿茶", "Ærø"])
LINE = st.lists(WORD, min_size=1, max_size=4).map(" ".join)
LINES = st.lists(LINE, min_size=1, max_size=5, unique=True)
NEW_LINES = st.lists(st.sampled_from(["black coffee", "running", "Bergen"]), min_size=1, max_size=2, unique=True)


def after(text: str, search: str, replace: str, value_type: ValueType = "string") -> str:
    return edit(text, Patch(0, "p", search, replace), value_type).text


@pytest.mark.parametrize(
    ("search", "replace"),
    [
        ("green tea", "black tea"),
        ('"green tea"', '"black tea"'),
        ('"green tea"', "black tea"),
        ("“green tea”", "“black tea”"),
        ("'green tea'", "'black tea'"),
        (r"green tea\nhiking", r"black tea\nhiking"),
        (r'"green tea\nhiking"', r'"black tea\nhiking"'),
        ("    green tea\n    hiking", "    black tea\n    hiking"),
        ('["green tea","hiking"]', '["black tea","hiking"]'),
        ('"green tea", "hiking"', '"black tea", "hiking"'),
        ('green tea","hiking', 'black tea","hiking'),
    ],
)
@pytest.mark.parametrize("value_type", ["string", "list<string>"])
def test_json_marks_missing_in_the_text_are_removed(search: str, replace: str, value_type: ValueType) -> None:
    assert after("green tea\nhiking", search, replace, value_type) == "black tea\nhiking"


@pytest.mark.parametrize(
    ("search", "replace", "result"),
    [
        ("", '["running", "chess"]', "green tea\nhiking\nrunning\nchess"),
        ("", r"running\nchess", "green tea\nhiking\nrunning\nchess"),
        ("hiking", '"running"', "green tea\nrunning"),
        ("hiking", r"running\nchess", "green tea\nrunning\nchess"),
        ('["green tea', '["black tea', "black tea\nhiking"),
        ('"green tea",', "", "hiking"),
        ("green tea\n", "", "hiking"),
    ],
)
def test_a_list_item_becomes_a_line_in_any_notation(search: str, replace: str, result: str) -> None:
    assert after("green tea\nhiking", search, replace, "list<string>") == result


def test_a_list_of_numbers_is_edited_as_displayed() -> None:
    assert after("1\n2\n3", "[2, 3]", "[4, 5]", "list<int64>") == "1\n4\n5"
    assert after("", "", "[1, 2]", "list<int64>") == "1\n2"


@pytest.mark.parametrize(
    ("text", "search", "replace", "result"),
    [
        ("calls him Bob", "Bob", '"Bobby"', 'calls him "Bobby"'),
        ('calls him "Bob"', '"Bob"', '"Rob"', 'calls him "Rob"'),
        (r"keeps it in C:\new", r"C:\new", r"C:\notes\new", r"keeps it in C:\notes\new"),
        (r"uses \n for breaks", r"\n", r"\r\n", r"uses \r\n for breaks"),
        ("keeps it in D:", "D:", r"C:\new", r"keeps it in C:\new"),
        ("likes tea", "tea", r"tea.\nHas a cat", "likes tea.\nHas a cat"),
        ("", "", r"likes tea\nhas a cat", "likes tea\nhas a cat"),
    ],
)
def test_a_free_text_keeps_intended_marks(text: str, search: str, replace: str, result: str) -> None:
    assert after(text, search, replace) == result


@pytest.mark.parametrize(("text", "value_type", "displayed"), [("yes", "bool", "true"), ("1.50", "float32", "1.5"), (" 7 ", "int64", "7")])
def test_a_typed_text_equals_its_displayed_value(text: str, value_type: ValueType, displayed: str) -> None:
    assert after("", "", text, value_type) == displayed


def test_a_number_in_quotes_is_a_number() -> None:
    assert after("12", '"12"', '"13"', "int64") == "13"


def test_an_unrelated_quoted_search_is_refused() -> None:
    with pytest.raises(RefusedChangeError, match="no_similar_span"):
        after("green tea\nhiking", '"works in a bank"', '"x"', "list<string>")


@given(LINES, NEW_LINES, st.data())
def test_a_json_list_fragment_edits_like_plain_lines(lines: list[str], new: list[str], data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(lines) - 1))
    piece = lines[first : data.draw(st.integers(first + 1, len(lines)))]
    plain = after("\n".join(lines), "\n".join(piece), "\n".join(new), "list<string>")
    ways = [
        (orjson.dumps(piece).decode(), orjson.dumps(new).decode()),
        (orjson.dumps(piece).decode()[1:-1], orjson.dumps(new).decode()[1:-1]),
        (r"\n".join(piece), r"\n".join(new)),
        (orjson.dumps("\n".join(piece)).decode(), orjson.dumps("\n".join(new)).decode()),
    ]
    for search, replace in ways:
        assert after("\n".join(lines), search, replace, "list<string>") == plain


@given(st.text(max_size=30), st.text(min_size=1, max_size=20), st.text(max_size=30), st.text("abc \"'[],\n", min_size=1, max_size=20))
def test_an_exact_search_is_replaced_verbatim(before: str, search: str, after: str, replace: str) -> None:
    text = f"{before}{search}{after}"
    assume(text.count(search) == 1)
    found = edit(text, Patch(0, "p", search, replace)).text
    assert replace in found
    assert len(found) == len(before) + len(replace) + len(after)


@given(st.text("ab\\n\"'[], \n", min_size=1, max_size=20), st.text("ab\\n\"'[], \n", max_size=20))
def test_variants_start_unchanged_and_are_few_and_distinct(search: str, replace: str) -> None:
    for value_type in ("string", "list<string>", "list<int64>", "int64"):
        found = list(variants(search, replace, value_type))
        assert found[0] == (search, replace)
        assert len({each for each, _ in found}) == len(found) <= 12
        assert all(each for each, _ in found)


@given(
    st.lists(st.text(max_size=12), max_size=5), st.text(max_size=12), st.sampled_from(["list<string>", "list<int64>", "float32", "bool"])
)
def test_an_edited_text_equals_its_value(lines: list[str], added: str, value_type: ValueType) -> None:
    text = ""
    for each in [*lines, added]:
        try:
            text = after(text, "", each, value_type)
        except RefusedChangeError:
            continue
    value = value_of(text, value_type)
    items = value if isinstance(value, list) else [] if value is None else [value]
    assert text == "\n".join(str(each).lower() if isinstance(each, bool) else str(each) for each in items)


@pytest.mark.parametrize("text", ['"{}x', '{}x"', '"{}x"y"'])
def test_a_run_of_blanks_takes_linear_time(text: str) -> None:
    def work(given: str) -> object:
        return list(variants(given, given, "list<string>"))

    assert growth(work, lambda size: text.format(" " * size), size=40_000) < LINEAR
