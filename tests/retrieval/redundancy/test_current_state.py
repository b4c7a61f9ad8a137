"""The order of current and former states."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.records import Memory
from retrieval.query.asked_state import asked_state
from retrieval.redundancy.current_state import by_state, is_hearsay, state_order
from stores.port import ScoredMemory
from tests.stores.factories import NOON, memory

OSLO, BERGEN, NO_LONGER = "I live in Oslo.", "I moved to Bergen last week.", "No, I don't live in Oslo any more."
REPEATED = "Since you live in Oslo, how about the museum there?"


def said(*texts: str, speaker: str = "Ann") -> list[Memory]:
    return [
        memory(
            text,
            user="ann",
            type="fact",
            speaker=speaker,
            search_text=f"{speaker} (3 May 2024): {text}",
            event_time=NOON + timedelta(days=day),
        )
        for day, text in enumerate(texts)
    ]


def first(question: str, memories: list[Memory], ranked: list[int] | None = None) -> str:
    order = ranked or list(range(len(memories)))
    scores = [0.9 * 0.7**place for place in range(len(order))]
    places = state_order(question, [memories[each] for each in order], scores)
    return memories[order[places[0] if places else 0]].content


@pytest.mark.parametrize(
    ("question", "state"),
    [
        ("Where does Ann live?", "current"),
        ("Which phone do I use now?", "current"),
        ("What's my job?", "current"),
        ("How many cats does Ivo have?", "current"),
        ("Where did Ann live before?", "former"),
        ("What was my old phone?", "former"),
        ("Where did I use to work?", "former"),
        ("When did Ann move to Bergen?", "other"),
        ("Why does Ann live in Bergen?", "other"),
        ("What instruments does Melanie play?", "other"),
        ("What does Caroline think about Oslo?", "other"),
        ("Who was at the party in May?", "other"),
        ("Wo wohnt Ann?", "other"),
        ("tea", "other"),
    ],
)
def test_questions_ask_for_a_state(question: str, state: str) -> None:
    assert asked_state(question) == state


@pytest.mark.parametrize("question", ["Where does Ann live?", "Where do I live now?"])
@pytest.mark.parametrize("ranked", [[0, 1, 2], [2, 0, 1], [0, 2, 1]])
def test_the_new_home_is_before_its_denial(question: str, ranked: list[int]) -> None:
    assert first(question, said(OSLO, BERGEN, NO_LONGER), ranked) == BERGEN


def test_the_former_home_is_first_if_asked() -> None:
    assert first("Where did Ann live before?", said(OSLO, BERGEN), [1, 0]) == OSLO


@pytest.mark.parametrize(
    ("question", "old", "new"),
    [
        ("What phone does Ann have?", "My phone is a Pixel 6.", "I bought an iPhone 15 and gave the Pixel to my sister."),
        ("How much is my rent?", "My rent is 900 euros.", "The landlord raised my rent to 980 euros."),
        ("Which tea do I drink?", "I drink peppermint tea.", "Peppermint is over, it's rooibos from now on."),
        ("Where is the spare key?", "The spare key is under the pot.", "I gave the spare key to Mrs Berg."),
        ("In which room is the meeting?", "The meeting is in room 4.", "Correction, the meeting is in room 7."),
        ("How many chairs did I order?", "I ordered 20 chairs.", "I mixed that up, I ordered 12 chairs."),
        ("Does Ann like olives?", "I like olives.", "I don't like olives any more."),
        ("Does Ann eat meat?", "I eat meat.", "I don't eat meat any more."),
        ("Is Ann engaged?", "I'm engaged to Rafael.", "Rafael and I broke up in June."),
    ],
)
def test_the_later_statement_replaces_the_earlier(question: str, old: str, new: str) -> None:
    assert first(question, said(old, new)) == new
    assert first(question, said(old, new), [1, 0]) == new


@pytest.mark.parametrize(
    ("question", "best", "other"),
    [
        ("Where does Ann live?", OSLO, "I moved to Notion from Evernote."),
        ("Where does Ann live?", OSLO, "My brother works in Bergen now."),
        ("Which pets do I have?", "I have a cat.", "I have a new dog."),
        ("What did I say about the cat?", "The cat is ill.", "The new cat is healthy."),
        ("What do I like to drink?", "I like tea.", "I like coffee."),
        ("When did Ann move to Bergen?", BERGEN, "I'm moving the boxes to Bergen now."),
    ],
)
def test_other_statements_replace_nothing(question: str, best: str, other: str) -> None:
    assert first(question, said(best, other)) == best


def test_a_repetition_by_another_is_no_change() -> None:
    repeated = said(REPEATED, speaker="Guide")[0].model_copy(update={"event_time": NOON + timedelta(days=9)})
    statements = [*said(OSLO, BERGEN), repeated]
    for ranked in ([0, 1, 2], [2, 0, 1], [2, 1, 0]):
        assert first("Where does Ann live?", statements, ranked) == BERGEN
        assert first("Where do I live?", statements, ranked) == BERGEN


def test_a_wish_of_the_moment_is_no_state() -> None:
    drinks = said("Maybe tomorrow. Now I just want tea and my book.", "Peppermint is over. It's rooibos from now on.", "I like books.")
    assert first("Which tea do I drink now?", drinks) == drinks[1].content


def test_liked_things_are_listed_before_disliked_ones() -> None:
    drinks = said("I don't like coffee.", "I like tea.")
    assert first("Which drink do I like?", drinks) == "I like tea."
    assert first("Which drink do I not like?", drinks, [1, 0]) == "I don't like coffee."


def test_a_named_neighbour_is_before_others() -> None:
    neighbours = said("My neighbour Sean O'Connor keeps goats.", "My neighbour Maeve O'Brien bakes bread.")
    assert first("What does O’Brien do?", neighbours) == neighbours[1].content
    assert first("What does Ann do?", neighbours) == neighbours[0].content


def test_a_moved_memory_takes_the_better_score() -> None:
    ranked = [ScoredMemory(each, score, {}) for each, score in zip(said(OSLO, "I have a cat.", BERGEN), (0.9, 0.5, 0.1), strict=True)]
    moved = by_state("Where does Ann live?", ranked, explain=True)
    assert [each.memory.content for each in moved] == [BERGEN, OSLO, "I have a cat."]
    assert [each.score for each in moved] == [0.9, 0.5, 0.1]
    assert moved[0].parts["state"] == pytest.approx(0.8)


@given(
    st.sampled_from(["Where does Ann live?", "Where did Ann live before?", "What does Ann drink?", "Is Ann home?", "tea", ""]),
    st.lists(st.sampled_from([OSLO, BERGEN, NO_LONGER, REPEATED, "I used to live in Rome.", "Tea?", "", "茶"]), max_size=7),
    st.randoms(),
)
def test_the_order_is_always_a_permutation(question: str, texts: list[str], chance: object) -> None:
    memories = said(*texts)
    order = state_order(question, memories, [0.5] * len(memories))
    assert order is None or sorted(order) == list(range(len(memories)))


HOME = "I live in Oslo."
REPLY = "Thanks!\n\nOn Mon, 6 May 2024 at 10:12, Tom Berg <tom@example.com> wrote:\n> I moved to Madrid last week.\n> I drive a Saab now."
FORWARDED = "FYI\n\n---------- Forwarded message ---------\nFrom: Eva Lund <eva@example.com>\nSubject: hello\n\nI live in Vienna now."
MARKED = "> I moved to Lima last year\nReally? Tell me more!"
SPOKEN = 'Carla wrote: "I no longer live in Rome, I live in Genoa."'


@pytest.mark.parametrize("quotation", [REPLY, FORWARDED, MARKED, SPOKEN])
@pytest.mark.parametrize("question", ["Where do I live?", "Where does Ann live?", "Which city do I live in now?"])
def test_own_words_are_before_quotations(question: str, quotation: str) -> None:
    memories = said(HOME, quotation)
    assert first(question, memories) == first(question, memories, [1, 0]) == HOME


def test_questions_about_quoted_authors_find_their_words() -> None:
    memories = said(HOME, REPLY, FORWARDED, MARKED)
    assert first("Where does Tom live?", memories) == REPLY
    assert first("Where does Eva live?", memories) == FORWARDED


def test_a_quoted_fact_about_no_person_still_counts() -> None:
    old, new = "The meeting starts at nine.", "On 6 May 2024, Tom wrote:\n> The meeting now starts at ten."
    assert first("When does the meeting start?", said(old, new)) == new


def test_quoting_oneself_is_no_hearsay() -> None:
    moved = "On 6 May 2024, Ann wrote:\n> I moved to Bergen."
    assert first("Where does Ann live?", said(HOME, moved)) == moved


def test_questions_about_no_state_prefer_own_words() -> None:
    memories = said("I collect old maps of Norway.", "> I collect stamps\nNice!")
    assert first("What do I collect?", memories, [1, 0]) == memories[0].content
    assert first("When did I begin to collect?", memories, [1, 0]) == memories[0].content


@pytest.mark.parametrize("question", ["What did I forward about Madrid?", "Where does my friend live?", "Who moved to Madrid?"])
def test_questions_about_others_or_texts_accept_quotations(question: str) -> None:
    reply = said("On 6 May 2024, Tom wrote:\n> I live in Madrid, I moved in May.")[0]
    assert not is_hearsay(question, reply)
    assert is_hearsay("Where do I live?", reply)
