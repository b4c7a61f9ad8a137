"""Placeholders of chat exports state nothing; what people say in similar words does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.messages.export_placeholders import is_export_placeholder


@pytest.mark.parametrize(
    "text",
    [
        "<Media omitted>",
        "image omitted",
        "\u200eimage omitted",
        "‎video note omitted",
        "<Medien ausgeschlossen>",
        "<Multimedia omitido>",
        "<Médias omis>",
        "<Mídia oculta>",
        "<Media omessi>",
        "<Media weggelaten>",
        "This message was deleted",
        "You deleted this message.",
        "This message was deleted by admin Bo.",
        "Diese Nachricht wurde gelöscht.",
        "Missed voice call",
        "Missed group video call at 18:05",
        "Voice call, No answer",
        "Llamada perdida",
        "<attached: 00000012-PHOTO-2024-05-06-18-00-00.jpg>",
        "IMG-20240506-WA0001.jpg (file attached)",
        "(File not included. Change data exporting settings to download.)",
        "[Photo]",
        "[Sticker]",
        "[image]",
        "<@U02ABCDEF> has joined the channel",
        "Messages and calls are end-to-end encrypted. No one outside of this chat, not even WhatsApp, can read or listen to them.",
        "Waiting for this message. This may take a while.",
    ],
)
def test_a_placeholder_is_recognised(text: str) -> None:
    assert is_export_placeholder(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Photo",
        "A phone call.",
        "By voice message",
        "I deleted this message.",
        "Why was this message deleted?",
        "I missed your call yesterday",
        "Missed call with my mother, I cried",
        "My sister has left the group",
        "The image was omitted from my thesis.",
        "Media studies is my major.",
        "[file report.pdf]",
        "(I live in Oslo)",
        "<Media omitted> I moved to Bergen",
        "What is this plant?\n[image]",
    ],
)
def test_ordinary_text_is_no_placeholder(text: str) -> None:
    assert not is_export_placeholder(text)


@given(st.text(max_size=400))
def test_any_text_gets_an_answer(text: str) -> None:
    assert is_export_placeholder(text) in (True, False)
