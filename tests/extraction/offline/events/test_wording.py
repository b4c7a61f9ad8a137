from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extraction.offline.events.keywords import KeywordRanker
from extraction.offline.events.wording import event_date_of, first_to_third_person, second_to_third_person, with_dates, with_names
from extraction.offline.grammar.content_words import content_words, is_filler
from extraction.offline.grammar.sentences import asks, closes, ends_in_question, pieces_of, points_back, questions_of, replies, sentences_of
from memory.dates.event_date import UNKNOWN_DATE
from memory.dates.mentions import resolve_dates, unclear_dates
from memory.texts.text import estimate_tokens

MESSAGE_TIME = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I'm moving, and my dog too.", "Ann is moving, and Ann's dog too."),
        ("I've been there; it did me good", "Ann has been there; it did Ann good"),
        ("I really love tea and I study law", "Ann really loves tea and Ann studies law"),
        ("Shall I start? What can I do?", "Shall Ann start? What can Ann do?"),
        ("am I late? I don't think so", "is Ann late? Ann doesn't think so"),
        ("i think I’ll go", "Ann thinks Ann will go"),
        ("That book is mine", "That book is Ann's"),
        ("The imprint is fine", "The imprint is fine"),
    ],
)
def test_the_first_person_becomes_the_speaker(text: str, expected: str) -> None:
    assert first_to_third_person(text, "Ann") == expected


def test_a_speakers_name_is_no_template() -> None:
    assert first_to_third_person("I'm me, my way", r"A\1{x}") == r"A\1{x} is A\1{x}, A\1{x}'s way"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Do you have pets?", "does Ann have pets?"),
        ("Have you moved? How are you?", "has Ann moved? How is Ann?"),
        ("Is that your own idea?", "Is that Ann's own idea?"),
    ],
)
def test_the_second_person_becomes_the_listener(text: str, expected: str) -> None:
    assert second_to_third_person(text, "Ann") == expected


def test_absolute_dates_follow_relative_ones() -> None:
    text = "Yesterday's lunch, last week's walk, on 3 May 2022."

    dated = with_dates(text, resolve_dates(text, MESSAGE_TIME.date()))

    assert dated == "Yesterday's (7 May 2023) lunch, last week's (week of 1 May 2023) walk, on 3 May 2022."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I ran yesterday", "2023-05-07"),
        ("I ran last week", "2023-05-01/2023-05-07"),
        ("I ran last month", "2023-04"),
        ("I ran last summer", "2022-06/2022-08"),
        ("I moved ten years ago", "2013"),
        ("I ran the other day", "2023-05-01/2023-05-07"),
        ("I ran a few weeks ago", "2023-03-27/2023-04-30"),
        ("I will run tomorrow", None),
        ("I ran today, for the first time since April", None),
        ("I run", None),
    ],
)
def test_an_event_is_dated_by_its_first_past_date(text: str, expected: str | None) -> None:
    date = event_date_of(resolve_dates(text, MESSAGE_TIME.date()), MESSAGE_TIME)
    assert (None if date is None else date.text) == expected


@pytest.mark.parametrize("text", ["Hey Mel! Good to see you!", "Thanks, bye!", "Wow, that's great!", "ok", "", "See you soon, take care!"])
def test_greetings_and_thanks_are_fillers(text: str) -> None:
    assert is_filler(text, names=frozenset({"mel"}))


@pytest.mark.parametrize(
    "text", ["My dog died.", "It was a 9.", "Bergen is lovely and rainy", "We had fun in Nice", "I'm not myself", "I like him"]
)
def test_a_text_with_content_is_no_filler(text: str) -> None:
    assert not is_filler(text)


def test_sentences_do_not_end_at_abbreviations() -> None:
    assert sentences_of('Dr. Okafor said "Stop!" Then I left.\nAt 5.2 km? Yes…') == [
        'Dr. Okafor said "Stop!"',
        "Then I left.",
        "At 5.2 km?",
        "Yes…",
    ]
    assert questions_of("Hi. Who? Me. Why not?") == ["Who?", "Why not?"]


@given(st.text(alphabet="ab .!?\n", max_size=300), st.integers(1, 20))
def test_pieces_hold_the_whole_text_in_bounded_parts(text: str, tokens: int) -> None:
    pieces = pieces_of(text, tokens=tokens)

    assert "".join("".join(pieces).split()) == "".join(text.split())
    assert all(estimate_tokens(piece) <= tokens or len(sentences_of(piece)) == 1 for piece in pieces)
    assert all(estimate_tokens(piece) <= 2 * tokens for piece in pieces)


@pytest.mark.parametrize(
    "text", ["word " * 5000, "x" * 30_000, "a" + " " * 30_000 + "b", '{"on":"2023-05-08"},' * 2000, "字" * 9000, "ခွေး" * 900]
)
def test_a_sentence_without_an_end_is_cut(text: str) -> None:
    pieces = pieces_of(text, tokens=120)

    assert "".join("".join(pieces).split()) == "".join(text.split())
    assert all(len(piece) <= 1000 and estimate_tokens(piece) <= 120 for piece in pieces)


def test_pasted_data_is_cut_after_its_delimiter() -> None:
    pieces = pieces_of('{"on":"2023-05-08"},' * 200, tokens=120)

    assert all(not piece[-1].isalnum() for piece in pieces)


def test_abbreviations_without_end_are_read_once() -> None:
    assert len(sentences_of("Dr. " * 150_000)) == 1


def test_keywords_are_rare_words_without_speakers_and_times() -> None:
    texts = ["Ann paints the harbour every week", "Ann paints watercolours of Bergen, last year of Oslo", "Ann paints at night"]
    ranker = KeywordRanker(texts, names=["Ann"])

    keywords = ranker.keywords(texts[1], limit=4)

    assert "paints watercolours" in keywords
    assert {"bergen", "oslo"} <= set(keywords)
    assert not {"ann", "last", "year"} & {word for keyword in keywords for word in keyword.split()}


@given(st.lists(st.text(alphabet="abc ,.", max_size=30), max_size=5), st.integers(0, 6))
def test_keywords_are_distinct_words_of_the_text(texts: list[str], limit: int) -> None:
    ranker = KeywordRanker(texts)
    for text in texts:
        keywords = ranker.keywords(text, limit=limit)
        words = [word for keyword in keywords for word in keyword.split()]

        assert len(keywords) <= limit
        assert len(words) == len(set(words))
        assert set(words) <= set(content_words(text))


def test_cues_know_openers_answers_and_goodbyes() -> None:
    assert closes("you're welcome, have a great day")
    assert not closes("i need a hotel")
    assert replies("Yes, on Monday")
    assert not replies("Tell me about Monday")
    assert points_back("i like them")
    assert not points_back("i like cats")
    assert asks("why? because")
    assert not ends_in_question("why? because")
    assert ends_in_question("because why ? ")


@pytest.mark.parametrize(
    "text", ["We met on 31 June.", "We married years ago.", "It was in week 23.", "On 30 February we met, and again yesterday."]
)
def test_an_undeterminable_date_is_unknown(text: str) -> None:
    day = MESSAGE_TIME.date()
    assert event_date_of(resolve_dates(text, day), MESSAGE_TIME, unclear_dates(text, day)) == UNKNOWN_DATE


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I'm glad.\n\nOn 6 May 2024, Tom wrote:\n> I live in Rome.", "Ann is glad.\n\nOn 6 May 2024, Tom wrote:\n> Tom lives in Rome."),
        ("I like this.\n> I live in Rome.", "Ann likes this.\n> I live in Rome."),
        (
            "FYI\n-----Original Message-----\nFrom: Eva\nTo: Ann\n\nI live in Rome.",
            "FYI\n-----Original Message-----\nFrom: Eva\nTo: Ann\n\nEva lives in Rome.",
        ),
        ("I live in Rome and I like it.", "Ann lives in Rome and Ann likes it."),
    ],
)
def test_quoted_persons_get_their_own_names(text: str, expected: str) -> None:
    assert with_names(text, "Ann") == expected
