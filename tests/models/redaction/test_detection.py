"""Personal data of well-defined forms is found where it is, and nothing else."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.redaction import RedactedKind, RedactionPolicy
from models.redaction.detection import Detector
from models.redaction.placeholders import Placeholders, without_personal_data
from tests.models.redaction.personal_data import CORPUS, EVERY, PLAIN

DETECTOR = Detector(EVERY)
PIECES = st.one_of(
    st.sampled_from([each for of_kind in CORPUS.values() for each in of_kind]),
    st.sampled_from(PLAIN),
    st.sampled_from(["[EMAIL_1]", "[PHONE_9]", "[EMAIL]", "é", "\n", "🙂"]),
    st.text(max_size=12),
)
TEXTS = st.lists(PIECES, max_size=8).map(" ".join)


@pytest.mark.parametrize(("kind", "data"), [(kind, each) for kind, of_kind in CORPUS.items() for each in of_kind])
def test_each_form_is_found_exactly(kind: RedactedKind, data: str) -> None:
    text = f"My data ({data}), as I said: {data}."
    spans = Detector(RedactionPolicy(kinds=(kind,))).spans(text)
    assert [(text[each.start : each.end], each.kind) for each in spans] == [(data, kind)] * 2
    assert without_personal_data(text, Detector(RedactionPolicy(kinds=()))) == text


@pytest.mark.parametrize("text", PLAIN)
def test_ordinary_numbers_are_not_redacted(text: str) -> None:
    assert DETECTOR.spans(text) == []


@pytest.mark.parametrize("wrong", ["DE89 3704 0044 0532 0130 01", "4111 1111 1111 1112", "999.1.1.1", "536-90-439", "44051401358"])
def test_numbers_with_wrong_check_digits_are_not_redacted(wrong: str) -> None:
    found = Detector(RedactionPolicy(kinds=("iban", "card", "ip", "national_id"))).spans(f"number {wrong} here")
    assert [each for each in found if each.end - each.start == len(wrong)] == []


@pytest.mark.parametrize(
    "text",
    [
        "Order 44051401359 has left the warehouse.",
        "Bestellnummer: 44051401359",
        "The orders 123456782, 44051401359 and 12345678Z are late.",
        "see https://shop.example.org/parts/12345678Z",
        "ISBN 0-19-852663-6, or 0198526636",
        "The invoice no. 12345678Z is paid.",
        "It is 123456782 there.",
        "Logged at 240506-1030 and at 20240506-1030, or 1709999999.",
        "epoch 1714991400000 in milliseconds",
        "978-3-16-148410-0 and 9783161484100",
    ],
)
def test_numbers_of_things_are_no_persons(text: str) -> None:
    found = Detector(RedactionPolicy(kinds=("national_id", "card"))).spans(text)
    assert [text[each.start : each.end] for each in found] == []


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("My BSN is 123456782.", "123456782"),
        ("123456782 is my burgerservicenummer", "123456782"),
        ("PESEL 44051401359 for the order", "44051401359"),
        ("In this case, 44051401359 will do.", "44051401359"),
        ("CPR: 240506-1030", "240506-1030"),
        ("The issue is solved. 12345678Z is mine.", "12345678Z"),
    ],
)
def test_a_named_number_of_a_person_is_found(text: str, number: str) -> None:
    found = Detector(RedactionPolicy(kinds=("national_id",))).spans(text)
    assert [text[each.start : each.end] for each in found] == [number]


def test_a_region_finds_numbers_without_a_code() -> None:
    text = "Call 22 12 34 56."
    assert Detector(RedactionPolicy(kinds=("phone",))).spans(text) == []
    (span,) = Detector(RedactionPolicy(kinds=("phone",), region="NO")).spans(text)
    assert text[span.start : span.end] == "22 12 34 56"


@given(st.lists(TEXTS, max_size=4))
def test_placeholders_give_the_texts_back(texts: list[str]) -> None:
    placeholders = Placeholders(DETECTOR, texts)
    redacted = [placeholders.redacted(each) for each in texts]
    assert [placeholders.restored(each) for each in redacted] == texts


@given(TEXTS)
def test_every_number_of_the_corpus_is_redacted(text: str) -> None:
    kept = [each for of_kind in CORPUS.values() for each in of_kind if f" {each} " in f" {text} "]
    for redacted in (Placeholders(DETECTOR, [text]).redacted(text), without_personal_data(text, DETECTOR)):
        assert [each for each in kept if f" {each} " in f" {redacted} "] == []
        assert without_personal_data(redacted, DETECTOR) == redacted, "a second time finds nothing"


@pytest.mark.parametrize("said", ["[EMAIL_999999999]", "[EMAIL_1] [PHONE_3]"])
def test_a_placeholder_in_a_text_spoils_no_other(said: str) -> None:
    texts = [said, "a@example.org, b@example.org"]
    placeholders = Placeholders(DETECTOR, texts)
    redacted = [placeholders.redacted(each) for each in texts]
    assert "@" not in redacted[1]
    assert [placeholders.restored(each) for each in redacted] == texts


def test_equal_data_has_one_placeholder() -> None:
    placeholders = Placeholders(DETECTOR, [])
    assert placeholders.redacted("a@example.org, b@example.org, a@example.org") == "[EMAIL_1], [EMAIL_2], [EMAIL_1]"


@pytest.mark.parametrize("hostile", ["1 " * 20_000, "a" * 50_000 + "@" + "b." * 20_000, "AB12 " * 10_000, ":" * 40_000, "+1" * 20_000])
def test_hostile_texts_take_linear_time(hostile: str) -> None:
    def cost(text: str) -> float:
        began = time.process_time()
        DETECTOR.spans(text)
        return time.process_time() - began

    cost(hostile[:100])
    half, whole = cost(hostile[: len(hostile) // 2]), cost(hostile)
    assert whole < 3 * half + 0.5
