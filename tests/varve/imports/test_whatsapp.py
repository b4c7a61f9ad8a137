"""WhatsApp's exports: the forms of times, the order of dates, texts of several lines, and what people did not write."""

import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.records import Message
from varve.errors import ImportFileError
from varve.imports.files import ExportFile
from varve.imports.messages import NO_TEXT, DateOrder, ImportOptions, Skipped
from varve.imports.whatsapp import BEFORE_FIRST, BY_WHATSAPP, PLACEHOLDER, whatsapp_messages
from varve.imports.whatsapp_lines import Dates, chat_entries, start_of

OSLO = ImportOptions(time_zone="Europe/Oslo")


def read(folder: Path, text: str, options: ImportOptions = OSLO, *, name: str = "WhatsApp Chat with Ann.txt") -> list[dict[str, Any]]:
    return [each for each in found(folder, text, options, name=name) if isinstance(each, dict)]


def found(folder: Path, text: str, options: ImportOptions = OSLO, *, name: str = "WhatsApp Chat with Ann.txt") -> list[Any]:
    (folder / name).write_text(text)
    all_found = list(whatsapp_messages(ExportFile(folder / name), options))
    for each in all_found:
        if isinstance(each, dict):
            Message.model_validate({**each, "tenant": "t"})
    return all_found


def skipped(all_found: list[Any]) -> list[str]:
    return [each.reason for each in all_found if isinstance(each, Skipped) for _ in range(each.count)]


@pytest.mark.parametrize(
    "line",
    [
        "[31/12/2023, 23:05:09] Ann: Hi",
        "[31/12/23, 11:05:09 PM] Ann: Hi",
        "\u200e[31/12/2023, 11:05:09\u202fp.\xa0m.] Ann: Hi",
        "[12/31/23, 11:05:09\u202fPM] Ann: Hi",
        "[31.12.23, 23:05:09] Ann: Hi",
        "[2023-12-31, 23:05:09] Ann: Hi",
        "[2023/12/31 下午11:05:09] Ann: Hi",
        "31/12/2023, 23:05 - Ann: Hi",
        "12/31/23, 11:05 PM - Ann: Hi",
        "31/12/23, 11:05 pm - Ann: Hi",
        "31.12.23, 23:05 - Ann: Hi",
        "31-12-2023 23:05 - Ann: Hi",
        "31/12/2023 à 23:05 - Ann: Hi",
        "31.12.2023 klo 23.05 - Ann: Hi",
        "2023. 12. 31. 23:05 - Ann: Hi",
        "٣١/١٢/٢٠٢٣, ١١:٠٥ م - Ann: Hi",
    ],
)
def test_every_form_of_time_is_read(tmp_path: Path, line: str) -> None:
    [message] = read(tmp_path, line + "\n")
    assert message["event_time"].startswith("2023-12-31T23:05:0")
    assert message["event_time"].endswith("+01:00")
    assert (message["user"], message["speaker"], message["text"]) == ("Ann", "Ann", "Hi")
    assert message["session"] == "whatsapp-Ann"


@pytest.mark.parametrize("hour", [("12:05 AM", "00:05"), ("12:05 PM", "12:05"), ("1:05 pm", "13:05")])
def test_twelve_hours_have_midnight_and_noon(tmp_path: Path, hour: tuple[str, str]) -> None:
    [message] = read(tmp_path, f"12/31/23, {hour[0]} - Ann: Hi")
    assert message["event_time"] == f"2023-12-31T{hour[1]}:00+01:00"


@pytest.mark.parametrize(
    ("dates", "first"),
    [
        (("03/04/24", "13/04/24"), "2024-04-03"),
        (("03/04/24", "04/13/24"), "2024-03-04"),
        (("03/01/24", "05/01/24", "04/02/24"), "2024-01-03"),
        (("01/03/24", "01/05/24", "02/04/24"), "2024-01-03"),
        (("05/05/24",), "2024-05-05"),
        (("03.04.24",), "2024-04-03"),
    ],
)
def test_all_dates_decide_their_order(tmp_path: Path, dates: tuple[str, ...], first: str) -> None:
    text = "\n".join(f"{each}, 10:00 - Ann: Hi" for each in dates)
    assert read(tmp_path, text)[0]["event_time"].startswith(first)


@pytest.mark.parametrize(("order", "day"), [("day-first", "2024-04-03"), ("month-first", "2024-03-04"), ("year-first", "2003-04-24")])
def test_an_unclear_order_needs_the_option(tmp_path: Path, order: DateOrder, day: str) -> None:
    text = "Notes\n03/04/24, 10:00 - Ann: Hi"
    with pytest.raises(ImportFileError, match=r"line 2: the date may be day-first or month-first: give --date-order"):
        read(tmp_path, text)
    assert read(tmp_path, text, ImportOptions(date_order=order))[0]["event_time"].startswith(day)


def test_contradicting_dates_and_options_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ImportFileError, match="line 2 is not day-first and line 1 is not month-first"):
        read(tmp_path, "13/04/24, 10:00 - Ann: Hi\n04/13/24, 10:00 - Ann: Hi")
    with pytest.raises(ImportFileError, match="line 1: this date does not exist month-first"):
        read(tmp_path, "13/04/24, 10:00 - Ann: Hi", ImportOptions(date_order="month-first"))
    with pytest.raises(ImportFileError, match="no line begins with a date"):
        read(tmp_path, "Hello\n99/99/9999, 10:00 - Ann: Hi")


def test_lines_that_continue_a_message_stay_in_it(tmp_path: Path) -> None:
    text = "31/12/2023, 10:00 - Ann: Look:\r\n\r\n[12/31/23, 9:00:00 AM] Bo: pasted\r\n45/45/2023, 99:99 - no\n31/12/2023, 10:01 - Bo: a: b"
    first, second = read(tmp_path, text)
    assert first["text"] == "Look:\n\n[12/31/23, 9:00:00 AM] Bo: pasted\n45/45/2023, 99:99 - no"
    assert (second["speaker"], second["text"]) == ("Bo", "a: b")


def test_a_group_is_one_session_of_its_senders(tmp_path: Path) -> None:
    text = "31/12/2023, 10:00 - Ann: Hi\n31/12/2023, 10:00 - \u202a+47 123 45 678\u202c: Hello\n31/12/2023, 10:01 - ~ Bo: Hey"
    messages = read(tmp_path, text)
    assert [each["user"] for each in messages] == ["Ann", "+47 123 45 678", "Bo"]
    assert {each["session"] for each in messages} == {"whatsapp-Ann"}
    of_one = read(tmp_path, text, ImportOptions(user="ann", session="s"))
    assert {(each["user"], each["session"]) for each in of_one} == {("ann", "s")}
    assert [each["speaker"] for each in of_one] == ["Ann", "+47 123 45 678", "Bo"]


@pytest.mark.parametrize(
    "text",
    [
        *("<Media omitted>", "<Medien ausgeschlossen>", "<Multimedia omitido>", "<Médias omis>", "<Mídia oculta>", "<Media omessi>"),
        *(
            "<Media weggelaten>",
            "<Без медиафайлов>",
            "<Medya dahil edilmedi>",
            "<pominięto multimedia>",
            "<省略多媒体文件>",
            "<Mediefil utelatt>",
        ),
        *(
            "<メディアは含まれていません>",
            "<미디어 파일을 제외한 내보내기>",
            "<تم استبعاد الوسائط>",
            "<המדיה לא נכללה>",
            "<Media har utelämnats>",
        ),
        *("IMG-20231231-WA0001.jpg (file attached)", "PTT-20231231-WA0001.opus (Datei angehängt)", "This message was deleted"),
        "<attached: 00000012-PHOTO-2023-12-31-23-59-59.jpg>",
    ],
)
def test_placeholders_are_left_out(tmp_path: Path, text: str) -> None:
    assert skipped(found(tmp_path, f"31/12/2023, 10:00 - Ann: {text}\n31/12/2023, 10:00 - Ann: Hi")) == [PLACEHOLDER]


def test_captions_of_media_are_kept(tmp_path: Path) -> None:
    android = found(tmp_path, "31/12/2023, 10:00 - Ann: IMG-20231231-WA0001.jpg (file attached)\nOur <new> flat")
    assert (android[1]["text"], skipped(android)) == ("Our <new> flat", [PLACEHOLDER])
    ios = found(tmp_path, "[31/12/2023, 10:00:00] Ann: Our flat \u200e<attached: 00000012-PHOTO-2023-12-31-10-00-00.jpg>")
    assert (ios[1]["text"], skipped(ios)) == ("Our flat", [PLACEHOLDER])
    document = found(tmp_path, "[31/12/2023, 10:00:00] Ann: Plan.pdf • \u200e3 pages \u200edocument omitted")
    assert skipped(document) == [PLACEHOLDER]


def test_lines_of_whatsapp_are_left_out_with_their_reason(tmp_path: Path) -> None:
    text = (
        "exported\n"
        "[31/12/2023, 10:00:00] Ann: \u200eAnn changed this group's icon\n"
        "[31/12/2023, 10:00:01] Bo: \u200eBo joined using this group's invite link\n"
        "[31/12/2023, 10:00:02] Bo: \u200eimage omitted\n"
        "[31/12/2023, 10:00:03] Bo: \u200ePOLL:\nWhere?\n\u200eOPTION: Oslo\n"
        "[31/12/2023, 10:00:04] Bo: At nine \u200e<This message was edited>\n"
        "[31/12/2023, 10:00:05] Bo: \n"
    )
    all_found = found(tmp_path, text)
    assert skipped(all_found) == [BEFORE_FIRST, BY_WHATSAPP, BY_WHATSAPP, PLACEHOLDER, NO_TEXT]
    poll, edited = (each for each in all_found if isinstance(each, dict))
    assert poll["text"] == "POLL:\nWhere?\nOPTION: Oslo"
    assert (edited["text"], edited["metadata"]) == ("At nine", {"whatsapp": {"edited": True}})
    android = '31/12/2023, 10:00 - Ann created group "Trip: Oslo"\n31/12/2023, 10:01 - Bo "the cook": Hi'
    assert [each["speaker"] for each in read(tmp_path, android)] == ['Bo "the cook"']


def test_equal_messages_keep_their_own_stable_ids(tmp_path: Path) -> None:
    text = "31/12/2023, 10:00 - Ann: ok\n31/12/2023, 10:00 - Ann: ok\n31/12/2023, 10:00 - Bo: ok\n"
    before = [each["id"] for each in read(tmp_path, text)]
    assert len(set(before)) == 3
    later = read(tmp_path, text + "01/01/2024, 10:00 - Ann: ok\n", ImportOptions(time_zone="America/New_York"))
    assert [each["id"] for each in later][:3] == before


def test_archives_have_one_chat(tmp_path: Path) -> None:
    path = tmp_path / "WhatsApp Chat - Trip.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("_chat.txt", "\ufeff[31/12/2023, 10:00:00] Ann: Hi\r\n")
        archive.writestr("notes.txt", "x")
    [message] = whatsapp_messages(ExportFile(path), OSLO)
    assert isinstance(message, dict)
    assert (message["session"], message["text"]) == ("whatsapp-Trip", "Hi")
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("photo.jpg", "")
    with pytest.raises(ImportFileError, match="must have one chat as text, but has 0"):
        list(whatsapp_messages(ExportFile(tmp_path / "a.zip"), OSLO))


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"a\n\xff", "line 2: not in UTF-8"), (b"\xff\xfea\x00", "iconv -f UTF-16"), (b"x" * (1 << 21), "line 1: longer than")],
)
def test_unreadable_texts_are_refused_with_their_line(tmp_path: Path, content: bytes, reason: str) -> None:
    (tmp_path / "chat.txt").write_bytes(content)
    with pytest.raises(ImportFileError, match=reason):
        list(whatsapp_messages(ExportFile(tmp_path / "chat.txt"), OSLO))


def test_a_message_without_end_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ImportFileError, match=r"line \d+: a message above"):
        read(tmp_path, "31/12/2023, 10:00 - Ann: Hi\n" + "x" * 1000 + ("\n" + "x" * 1000) * 1100)


starts = st.sampled_from(
    ["", "[31/12/2023, 23:59:59] ", "12/31/23, 11:59 PM - ", "31.12.23, 23:59 - ", "2023-12-31, 23:59 - ", "\u200e[", "1/1/1, 1:11 - "]
)
texts = st.text(alphabet=st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=20)
lines = st.lists(st.builds("{}{}{}".format, starts, st.sampled_from(["", "Ann: ", "Ann:", ": "]), texts), min_size=1, max_size=8)


@given(lines)
def test_no_line_is_lost(given_lines: list[str]) -> None:
    numbered = list(enumerate(given_lines, start=1))
    dates = Dates()
    for number, line in numbered:
        dates.add(number, line)
    order = dates.order() or "day-first"
    if dates.style is None:
        return
    entries = list(chat_entries(numbered, dates.style, order, place="chat.txt"))
    assert [each.line for each in entries] == sorted({each.line for each in entries})
    assert sum(len(each.lines) for each in entries) == len(given_lines)
    rest = [line for each in entries for line in each.lines]
    assert all(whole.endswith(kept) for whole, kept in zip(given_lines, rest, strict=True))


@given(texts)
def test_any_line_can_be_read(line: str) -> None:
    found_start = start_of(line)
    assert found_start is None or line.endswith(found_start.rest)


@given(lines)
def test_every_entry_is_a_message_or_counted(tmp_path_factory: pytest.TempPathFactory, given_lines: list[str]) -> None:
    folder = tmp_path_factory.mktemp("chat")
    try:
        all_found = found(folder, "\n".join(given_lines))
    except ImportFileError:
        return
    kept = "".join(each["text"] for each in all_found if isinstance(each, dict))
    for line in given_lines:
        start = start_of(line)
        word = (start.rest if start else line).partition("Ann:")[2].strip()
        assert not word.isalnum() or not start or word in kept or skipped(all_found)
