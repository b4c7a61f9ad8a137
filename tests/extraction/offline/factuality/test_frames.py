"""Messages that follow an announced text, a play or an exercise are not in their speaker's own voice."""

import pytest

from extraction.offline.factuality.frames import Said, own_texts


def own(*conversation: str, earlier: tuple[str, ...] = ()) -> list[str]:
    """The own part of each message of Mara's; messages that begin with ``a:`` are the assistant's."""
    said = [
        Said("assistant", "the assistant", text.removeprefix("a: ")) if text.startswith("a: ") else Said("user", "Mara", text)
        for text in conversation
    ]
    return [text for each, text in zip(said, own_texts(said, earlier), strict=True) if each.role == "user"]


@pytest.mark.parametrize(
    "opening",
    [
        "could you proofread this for me?",
        "please translate my next message into Czech",
        "What the landlord wrote:",
        "My cousin's letter:",
        "Text from my boss:",
        "Here is what a guest said",
        "I need this in Polish",
        "quoting my uncle here",
        "the next paragraph is from a leaflet",
        "My aunt dictates now",
        "reply to this guest for me",
        "let's role-play, you are the guard",
        "be the receptionist please",
        "just testing if this works",
        "translate everything I send you into Greek",
        "let's write a story together",
        "Exercise 3: you are at the bakery",
    ],
)
def test_text_after_an_opening_is_no_own_statement(opening: str) -> None:
    assert own(opening, "I live in Tromsø and I'm a glazier.")[1] == ""


@pytest.mark.parametrize(
    "line",
    [
        "a: You wake up on a ship. What is your trade?",
        "a: The guard asks: who are you, stranger?",
        "a: *the fox bows* And your name?",
        "a: Choose a home town for your hero.",
        "a: Let's do a mock interview. What do you do?",
        "a: Role play: you are the patient, I am the doctor.",
        "a: Repeat after me: I am a pilot.",
        "a: Translate: 'Ich bin Lehrer'",
        "a: Which class do you play?",
        "a: Paste the text you want shortened.",
        "a: Who do you want to be in this story?",
    ],
)
def test_an_answer_to_a_scene_is_no_own_statement(line: str) -> None:
    assert own(line, "I'm a pilot and I live in Tromsø.") == [""]


@pytest.mark.parametrize(
    "conversation",
    [
        ("can you translate 'sel'?", "a: It means salt.", "I live in Tromsø."),
        ("Translate: I like salt.", "a: J'aime le sel.", "I live in Tromsø."),
        ("summarise the mail below", "I'm a judge.", "a: It is from a judge.", "I live in Tromsø."),
        ("What my tenant sent:", "I hate the stairs.", "by the way, I live in Tromsø."),
        ("let's play chess", "a: e4.", "I live in Tromsø."),
        ("You're a lifesaver!", "a: Thank you.", "I live in Tromsø."),
        ("a: You are a nurse, so you know that.", "I live in Tromsø."),
        ("a: Repeat after me: I am a pilot.", "I am a pilot.", "a: Very good. Where do you live?", "I live in Tromsø."),
        ("I'm a nurse.", "I live in Tromsø."),
        ("What if it rains?", "I live in Tromsø."),
        ("I wrote a letter.", "a: To whom?", "I live in Tromsø."),
    ],
)
def test_a_statement_outside_a_frame_is_own(conversation: tuple[str, ...]) -> None:
    assert "I live in Tromsø." in own(*conversation)[-1]


def test_a_play_lasts_until_a_clear_return() -> None:
    said = own("let's role-play", "a: Sure.", "I'm a thief.", "a: Really?", "By the way, I'm a baker.", "Stop the game. I live in Tromsø.")
    assert said == ["", "", "", "I live in Tromsø."]


def test_an_unanswered_text_waits_for_the_text() -> None:
    said = own("please correct my next text", "a: Sure, go ahead.", "I lives in Oslo.", "a: I live in Oslo.", "I'm a baker.")
    assert said[1:] == ["", "I'm a baker."]


def test_another_speaker_s_text_frames_only_their_messages() -> None:
    said = [
        Said("user", "Ann", "What my tenant wrote:"),
        Said("user", "Ben", "I live in Tromsø."),
        Said("user", "Ann", "I hate the stairs."),
    ]
    assert own_texts(said)[1:] == ["I live in Tromsø.", ""]


def test_a_role_play_of_an_earlier_window_continues() -> None:
    opening = "Mara: let's role-play, you are the guard"
    assert own("I'm a thief.", earlier=(opening,)) == [""]
    assert own("I'm a thief.", earlier=(opening, "Mara: stop the game now")) == ["I'm a thief."]
