"""The authors of quoted mails, chats and direct speech are known, and the writer's own words stay theirs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.messages.attribution import attributed_parts
from memory.messages.blocks import blocks_of, prose_of
from memory.messages.quote_heads import is_reply_head
from tests.growth import LINEAR, growth

OWN = "I live in Bern."

QUOTED = [
    ("On Tue, 7 May 2024 at 09:15, Nora Lind <nora@example.com> wrote:\n\nI live in Turku.", "Nora Lind"),
    ("On 7 May 2024, at 09:15, Nora Lind wrote:\n> I live in Turku.", "Nora Lind"),
    ("On Tue, 7 May 2024 at 09:15, Nora Lind\n<nora@example.com> wrote:\n> I live in Turku.", "Nora Lind"),
    ("Am Di., 7. Mai 2024 um 09:15 Uhr schrieb Nora Lind <nora@example.com>:\n> Ich wohne in Turku.", "Nora Lind"),
    ("Le mar. 7 mai 2024 à 09:15, Nora Lind <nora@example.com> a écrit :\n> J'habite à Turku.", "Nora Lind"),
    ("El mar, 7 may 2024 a las 9:15, Nora Lind (<nora@example.com>) escribió:\n> Vivo en Turku, y mi casa es vieja.", "Nora Lind"),
    ("Il giorno mar 7 mag 2024 alle ore 09:15 Nora Lind <nora@example.com> ha scritto:\n> Io abito a Turku.", "Nora Lind"),
    ("Op di 7 mei 2024 om 09:15 schreef Nora Lind <nora@example.com>:\n> Ik woon in Turku.", "Nora Lind"),
    ("2024年5月7日(火) 9:15 田中花子 <hanako@example.com>:\n> 私はトゥルクに住んでいます。", "田中花子"),
    ("---------- Forwarded message ---------\nFrom: Nora Lind <nora@example.com>\nDate: Tue, 7 May\n\nI live in Turku.", "Nora Lind"),
    ("-----Original Message-----\nFrom: Nora Lind\nSent: Tuesday\nSubject: news\n\nI live in Turku.", "Nora Lind"),
    ("-----Ursprüngliche Nachricht-----\nVon: Nora Lind\nGesendet: Dienstag\n\nIch wohne in Turku.", "Nora Lind"),
    ("Anfang der weitergeleiteten Nachricht:\n\nVon: Nora Lind <nora@example.com>\n\nIch wohne in Turku.", "Nora Lind"),
    ("Begin forwarded message:\n\nFrom: nora@example.com\n\nI live in Turku.", "nora"),
    ("Von: Nora Lind\nAn: Ann\nBetreff: Umzug\n\nIch wohne in Turku.", "Nora Lind"),
    ("[07/05/24, 09:15:33] Nora: I live in Turku", "Nora"),
    ("07.05.2024, 09:15 - Nora: I live in Turku", "Nora"),
    ("Nora Lind  9:15 AM\nI live in Turku", "Nora Lind"),
    ("*Nora*  09:15\nI live in Turku", "Nora"),
    ("Nora, [07.05.2024 09:15]\nI live in Turku", "Nora"),
    ("Nora — 07/05/2024 09:15\nI live in Turku", "Nora"),
    ('Nora wrote: "I live in Turku now."', "Nora"),
    ("Nora says: I live in Turku now.", "Nora"),
    ("> I live in Turku", ""),
    (">> Ich wohne in Turku", ""),
    ('My aunt says "I live in Turku".', ""),
]


@pytest.mark.parametrize(("quotation", "author"), QUOTED)
def test_a_quotation_has_its_own_author(quotation: str, author: str) -> None:
    for text in (f"{OWN}\n\n{quotation}", quotation):
        authors = {part.author for part in attributed_parts(text) if "Turku" in part.text or "トゥルク" in part.text}
        assert authors == {author}
    assert [part.author for part in attributed_parts(f"{OWN}\n\n{quotation}") if "Bern" in part.text] == [None]


@pytest.mark.parametrize(
    "text",
    [
        OWN,
        "I said to him: I live in Turku.",
        'I told her "I live in Turku".',
        "On 7 May I wrote:\nI live in Turku.",
        "Things I love:\n- my dog\n- Turku",
        "In 2019 my sister wrote a book, and its chapters are:\nI live in Turku",
        "My day:\nGym 18:00\nI live in Turku",
        'I read "The House in Turku" and liked it.',
    ],
)
def test_the_writers_own_words_stay_theirs(text: str) -> None:
    assert {part.author for part in attributed_parts(text)} == {None}


def test_a_dialogue_changes_its_author() -> None:
    parts = attributed_parts("Nora: I live in Turku\nOmar: I live in Cairo\nMe: I live in Bern")
    assert [(part.author, part.text.split()[-1]) for part in parts] == [("Nora", "Turku"), ("Omar", "Cairo"), (None, "Bern")]


def test_the_mail_below_a_signature_is_quoted() -> None:
    text = f"{OWN}\nBest regards,\nAnn\n\n-----Original Message-----\nFrom: Nora\nSubject: x\n\nI live in Turku."
    assert [block.kind for block in blocks_of(text)] == ["prose", "signature", "quoted"]
    assert prose_of(blocks_of(text)) == OWN


@given(st.text(alphabet='aI >"“”:\n\t,.12<@[]', max_size=200))
def test_no_word_is_lost(text: str) -> None:
    found = "".join("".join(part.text.split()) for part in attributed_parts(text))
    assert found == "".join(text.split())


@pytest.mark.parametrize("unit", ["on 1 wrote ", "a <b@c", "<a@b>", '"I ', "a says: ", "a b ", "*a* ", "1:", "a-", "a'", "said: "])
def test_quotations_are_found_in_linear_time(unit: str) -> None:
    def read(text: str) -> None:
        blocks_of.cache_clear()
        attributed_parts(text)

    assert growth(read, lambda size: f'{unit * (size // len(unit))}: "I live here"', size=20_000) < LINEAR


def test_a_long_line_is_no_head() -> None:
    assert is_reply_head("On 7 May 2024 Nora wrote:")
    assert not is_reply_head(f"On 7 May 2024 Nora {'x' * 400} wrote:")
