"""LLM_MERGE by rule: equal statements are merged, different ones stay separate."""

from unicodedata import normalize

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from operators.llm.merge_by_rule import Statement, bounded, merge_by_rule

DAY = 86_400_000_000


def merged(*texts: str, withdrawn: tuple[str, ...] = ()) -> list[str]:
    """The lines of statements of one day after another."""
    return merge_by_rule("", [Statement(number * DAY, each) for number, each in enumerate(texts)], withdrawn, limit=2000).splitlines()


@pytest.mark.parametrize(
    "sentences", [("我昨天搬家了。", "新家很大！", "你呢"), ("मैं कल घर आया। ", "सब ठीक है। ", "और तुम"), ("انتقلت أمس؟ ", "نعم. ", "وأنت")]
)
def test_a_long_text_is_cut_after_a_sentence(sentences: tuple[str, ...]) -> None:
    text = "".join(sentences)
    assert bounded(text, len(text) - 1) == "".join(sentences[:2]).rstrip()


@pytest.mark.parametrize(
    "texts",
    [
        ("Ann knows C", "Ann knows C++", "Ann knows C#"),
        ("Balance is 5 euros", "Balance is -5 euros"),
        ("Rent is $900", "Rent is €900", "Rent is 900"),
        ("Blood type A+", "Blood type A-"),
        ("Likes x > 3", "Likes x < 3"),
        ("Version 1.2 failed", "Version 12 failed", "Version 1 2 failed"),
        ("It costs .5", "It costs 5"),
        ("राम को बाल पसंद है", "राम को बिल पसंद है"),
        ("Ann moved?", "Ann moved."),
    ],
)
def test_statements_that_differ_in_any_sign_are_kept(texts: tuple[str, ...]) -> None:
    assert [line.partition(": ")[2] for line in merged(*texts)] == list(texts)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ann likes tea", "ann likes TEA."),
        ("Yes, Ann likes tea!", "yes Ann likes tea…"),
        ("Ann likes  the Café", normalize("NFD", "Ann likes the café")),
        ("安娜喜欢茶", "安娜喜欢茶。"),
        ("¡Ann likes tea!", "Ann likes tea"),
    ],
)
def test_a_repeated_statement_is_kept_once(one: str, other: str) -> None:
    assert merged(one, other) == [f"1970-01-02: {' '.join(other.split())}"]


def test_only_the_withdrawn_statement_is_removed() -> None:
    text = merge_by_rule("2024-01-01: Ann likes C\n2024-02-01: Ann likes C++", [], ["Ann likes C"], limit=2000)
    assert text == "2024-02-01: Ann likes C++"


@given(st.text(min_size=1, max_size=20).filter(str.strip), st.sampled_from(["NFC", "NFD"]))
@example(". ", "NFC")
def test_either_spelling_of_a_statement_withdraws_it(text: str, form: str) -> None:
    assert merge_by_rule(f"2024-01-01: {normalize('NFC', ' '.join(text.split()))}", [], [normalize(form, text)], limit=2000) == ""  # type: ignore[arg-type]
