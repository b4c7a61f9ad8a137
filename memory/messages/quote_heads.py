"""Heads of quoted text, and its authors: replies and forwarded mails of mail programs in many languages, and copied chat messages.

Each function reads one line, and a line longer than a head is none.
"""

import re
from collections.abc import Sequence
from typing import Final

_LONGEST_HEAD: Final = 300
_LONGEST_NAME: Final = 60
_FIELDS_WITHIN: Final = 3
"""Lines after a title in which the first field of a forwarded mail is."""

_WROTE: Final = re.compile(
    r"\b(?:wrote|writes|schrieb|geschrieben|a écrit|escribió|escreveu|ha scritto|schreef|geschreven|skrev|napisała?(?:\(a\))?|pisze"
    r"|napsala?(?:\(a\))?|kirjoitti|ezt írta|yazdı|đã viết|написала?|пишет|пише|a scris)\b|写道|寫道|のメール|님이 작성",
    re.IGNORECASE,
)
_MAIL_ADDRESS: Final = re.compile(r"[<(\[]\s?(?:mailto:)?[^\s<>()\[\]@]{1,64}@[^\s<>()\[\]@]{1,255}[>)\]]")
_BARE_ADDRESS: Final = re.compile(r"([^\s<>()\[\]@:;,]{1,64})@[^\s<>()\[\]@]{1,255}")
_DIGIT: Final = re.compile(r"\d")
_FIRST_OF_TWO: Final = re.compile(
    r"^(?=.*\d)(?:on|am|le|el|il giorno|op|em|den|på|w dniu|dne)\b|^\d{4}年|^on (?:mon|tue|wed|thu|fri|sat|sun)", re.IGNORECASE
)
_BY_WRITER: Final = re.compile(r"\b(?:I|we) wrote\b|\b(?:schrieb|habe) ich\b|\bj['’]ai écrit\b")
_TITLE: Final = re.compile(
    r"^\W*(?:begin(?:ning of)? |start of |anfang der |début du |inicio del? |inizio del? |inizio |begin van )?"
    r"(?:forwarded|original|weitergeleitete[nr]?|ursprüngliche[nr]?|mensaje|mensagem|message|messaggio|oorspronkelijk|doorgestuurd|ursprungligt"
    r"|vidarebefordrat|oprindelig|opprinnelig|videresendt|oryginalna|przekazana|wiadomość|původní|přeposlaná|alkuperäinen|välitetty"
    r"|eredeti|továbbított|orijinal|iletilen|исходное|пересылаемое|пересланное)\s+"
    r"(?:message|mail|e-mail|email|nachricht|d['’]origine|original|originale|inoltrato|reenviado|encaminhada|transféré|réexpédié|bericht"
    r"|meddelande|brev|meddelelse|melding|wiadomość|oryginalna|przekazana|zpráva|viesti|üzenet|mesaj|ileti|сообщение)\b.{0,40}$"
    r"|^\W*(?:fwd?|fw|forwarded|wg|tr|rv)\s*:|^(?:forwarded|weitergeleitet|transféré|reenviado|inoltrato) (?:from|by|von|par|de|da)\b"
    r"|^\W*(?:元のメッセージ|转发的邮件|轉寄的郵件|原始邮件|原始郵件|전달된 메시지|원본 메시지)",
    re.IGNORECASE,
)
_RULED_TITLE: Final = re.compile(r"^\s*[-_=*–—]{3,}\s?[^\W\d_][^|]{2,60}?\s?[-_=*–—]{3,}\s*$")
_SENDER_NAMES: Final = (
    "from|von|de|da|van|od|från|fra|feladó|lähettäjä|kimden|от|від|desde|remitente|expéditeur|absender|差出人|送信者|发件人"
    "|寄件者|보낸 사람"
)
_FIELD_NAMES: Final = (
    rf"{_SENDER_NAMES}|to|cc|bcc|sent|date|subject|reply-to|an|gesendet|datum|betreff|para|enviado(?: el)?|fecha|asunto|à|envoyé|objet|a"
    r"|inviato|data|oggetto|aan|verzonden|onderwerp|assunto|do|dw|wysłano|temat|till|skickat|ämne|til|sendt|dato|emne|komu|předmět"
    r"|vastaanottaja|päivämäärä|aihe|címzett|tárgy|kime|tarih|konu|кому|дата|тема|宛先|件名|日時|送信日時|收件人|主题|主旨|日期|发送时间"
    r"|받는 사람|제목|날짜"
)
_FIELD: Final = re.compile(rf"^[>*\s]*(?:{_FIELD_NAMES})\*{{0,2}}\s?[:：]\*{{0,2}}\s*\S", re.IGNORECASE)
_SENDER: Final = re.compile(rf"^[>*\s]*(?:{_SENDER_NAMES})\*{{0,2}}\s?[:：]\*{{0,2}}\s*(?P<sender>\S.{{0,200}})", re.IGNORECASE)

_DATE: Final = r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}"
_MARKED_CLOCK: Final = r"\d{1,2}[:.]\d\d(?:[:.]\d\d)?\s?(?:[AaPp]\.?[Mm]\.?|Uhr)"
_CLOCK: Final = rf"{_MARKED_CLOCK}?"
_CHAT_NAME: Final = r"[^\W\d_][^:\[\]<>|\n]{0,39}?"
_CHAT_LINE: Final = re.compile(
    rf"^\s*(?:\[?{_DATE},?\s+\d{{1,2}}[:.]\d\d.{{0,14}}?(?:\]|\s[-–])\s*(?P<dated>[^:]{{1,40}}):"
    r"|\[\d{1,2}:\d\d(?::\d\d)?.{0,20}\]\s*(?P<timed>[^:]{1,40}):|<(?P<tagged>[^<>]{1,30})>\s)"
)
_CHAT_HEAD: Final = re.compile(
    rf"^\s*(?:(?P<spaced>{_CHAT_NAME}):?\s{{2,}}{_MARKED_CLOCK}|(?P<mark>[*_]{{1,2}})(?P<bold>{_CHAT_NAME})(?P=mark):?\s+\[?{_CLOCK}\]?"
    rf"|[*_]{{0,2}}(?P<boxed>{_CHAT_NAME})[*_]{{0,2}},?\s?:?\s?\[(?:{_DATE},?\s)?{_CLOCK}\]:?"
    rf"|(?P<dashed>{_CHAT_NAME})\s+[—–-]\s+(?:{_DATE},?\s+{_CLOCK}|\w+ (?:at|um|à|alle|a las|kl\.?|om|às) {_CLOCK})"
    rf"|\[[^\[\]]{{0,30}}{_CLOCK}\]\s*(?P<after>{_CHAT_NAME}))\s*$"
)
_SPEAKER_LINE: Final = re.compile(
    r"^\s*(?!(?:https?|note|ps|p\.s|edit|update|todo|question|answer)\b)(?P<name>[^\W\d_][\w.'’-]*(?: [^\W\d_][\w.'’-]*)?)\s?:\s+\S",
    re.IGNORECASE,
)
_NO_PART_OF_NAME: Final = frozenset(
    {"am", "pm", "uhr", "utc", "gmt", "cet", "cest", "on", "le", "el", "op", "em", "il", "den", "på", "via"}
)
_WRITER: Final = frozenset({"i", "me", "myself", "you", "ich", "moi", "yo", "io", "eu", "ik", "jag", "ja", "я", "我", "私", "나"})
_PARTICLES: Final = frozenset({"von", "van", "der", "den", "de", "di", "da", "del", "la", "a"})
_NAME_WORD: Final = re.compile(r"[^\W\d_][\w.'’-]*")


def begins_reply_head(line: str) -> bool:
    """Whether a line may be the first of a head of two lines."""
    return len(line) <= _LONGEST_HEAD and _FIRST_OF_TWO.match(line) is not None


def is_reply_head(line: str) -> bool:
    """Whether a line announces a quoted mail: "On Mon, 6 May 2024, Tom Berg <tom@example.com> wrote:"."""
    line = line.strip().lstrip("> ")
    if len(line) > _LONGEST_HEAD or not line.endswith((":", "：")) or _BY_WRITER.search(line):
        return False
    is_addressed = _MAIL_ADDRESS.search(line) is not None
    has_time = _DIGIT.search(line) is not None
    verb = _WROTE.search(line)
    if verb is None:
        return is_addressed and has_time and line.rstrip(" :：").endswith((">", ")", "]"))
    if not _is_name(_MAIL_ADDRESS.sub(" ", line[verb.end() :])):
        return False
    return is_addressed or has_time or line.lower().startswith("on ")


def is_forward_title(lines: Sequence[str], index: int) -> bool:
    """Whether a line begins a forwarded mail: "---- Forwarded message ----", or another title between rules above a mail's fields."""
    line = lines[index]
    if len(line) > _LONGEST_HEAD:
        return False
    return bool(_TITLE.match(line) or (_RULED_TITLE.match(line) and any(map(is_mail_field, lines[index + 1 : index + 1 + _FIELDS_WITHIN]))))


def is_mail_field(line: str) -> bool:
    """Whether a line is a field of a mail: "From: Eva", "Betreff: Hallo"."""
    return _FIELD.match(line) is not None


def is_chat_line(line: str) -> bool:
    """Whether a line is a message of a chat's export: "[06/05/24, 10:12] Tom: Hello"."""
    return _CHAT_LINE.match(line) is not None


def is_chat_head(line: str) -> bool:
    """Whether a line is the head of a message that was copied from a chat: "Tom Berg  10:12 AM"."""
    return len(line) <= _LONGEST_HEAD and _CHAT_HEAD.match(line) is not None


def is_speaker_line(line: str) -> bool:
    """Whether a line may be one of a dialogue: "Tom: Hello"."""
    return _SPEAKER_LINE.match(line) is not None


def author_of_head(line: str) -> str | None:
    """The author whom a line names. Empty: the writer of the message. None: it names no author.

    Args:
        line: A line of a quoted block.
    """
    line = line.lstrip("> ")
    if len(line) > _LONGEST_HEAD:
        return None
    if (field := _SENDER.match(line)) is not None:
        return _name_in(field["sender"])
    if (chat := _CHAT_LINE.match(line) or _CHAT_HEAD.match(line)) is not None:
        return _name_in(next(name for key, name in chat.groupdict().items() if name is not None and key != "mark"))
    if is_reply_head(line):
        return _author_of_reply(line.strip(" :："))
    return None


def author_of_line(line: str) -> str | None:
    """The speaker of a line of a dialogue, as :func:`author_of_head`."""
    found = _SPEAKER_LINE.match(line)
    return None if found is None else _name_in(found["name"])


def _author_of_reply(head: str) -> str | None:
    address = _MAIL_ADDRESS.search(head)
    verb = _WROTE.search(head)
    if address is None:
        if verb is None:
            return None
        return _name_at_end(head[: verb.start()]) or _name_at_end(head[verb.end() :])
    start = verb.end() if verb is not None and verb.end() <= address.start() else 0
    return _name_at_end(head[start : address.start()]) or _name_in(address.group())


def _name_in(text: str) -> str | None:
    """The name in the value of a field. Of a mail address alone, its first part."""
    named = _MAIL_ADDRESS.sub(" ", text)
    words = _NAME_WORD.findall(_BARE_ADDRESS.sub(" ", named))
    if not words:
        address = _BARE_ADDRESS.search(text)
        words = re.findall(r"[^\W\d_]+", address[1]) if address else []
    name = " ".join(words)[:_LONGEST_NAME]
    if not name:
        return None
    return "" if name.casefold() in _WRITER else name


def _is_name(text: str) -> bool:
    """Whether a text has no words but those of a name."""
    words = _NAME_WORD.findall(text)
    return all(not word[0].islower() or word in _PARTICLES for word in words)


def _name_at_end(text: str) -> str | None:
    """The capitalised words, or words of a script without capitals, at the end of a text."""
    found: list[str] = []
    for word in reversed(re.split(r"[\s,，、]+", text.strip(" \"'“”„«»(<"))):
        bare = word.strip("\"'“”„«»().<>")
        if not bare or not bare[0].isalpha() or bare[0].islower() or bare.casefold() in _NO_PART_OF_NAME or _DIGIT.search(bare):
            break
        found.insert(0, bare)
    name = " ".join(found)[:_LONGEST_NAME]
    if not name:
        return None
    return "" if name.casefold() in _WRITER else name
