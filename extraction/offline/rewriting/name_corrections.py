"""Rewrites corrections of the own name as plain statements: "Please use Beatrice instead." as "Call me Beatrice."."""

import re
from typing import Final

from extraction.offline.grammar.value_patterns import NAME
from memory.texts.prefiltered_patterns import compiled

_WISH: Final = r"(?:(?:please|pls|just|but|and|so|do|you can|better|rather)[\s,]+)*"
_END: Final = r"(?=\s*(?:[.!,;]|$|please\b|pls\b|instead\b|from now\b|thanks\b))(?:\s+(?:please|pls|instead))*"
_IN_ONE: Final = compiled(
    r"(?P<before>\b(?:my name(?:['’]?s| is|['’]?s not| is not| isn['’]?t)|i(?:['’]?m| am)|(?:don['’]?t|do not|stop|quit"
    r"|no need to) call(?:ing)? me)\s+"
    rf"(?P<rejected>{NAME}))\s*(?:[.,;!—–-]+\s*|\s)(?:but\s+|and\s+)?"
    rf"(?:{_WISH}(?:use|say|go with|call me|write)|it['’]?s|i['’]?m|the name is|my name is)\s+(?P<name>{NAME}){_END}",
    re.IGNORECASE,
)
"""A name that is rejected, and the right one after it."""
_REJECTS: Final = compiled(r"\b(?:not|isn['’]?t|don['’]?t|stop|quit|no need)\b", re.IGNORECASE)
_USES: Final = compiled(r"\b(?:use|say|go with|call me|write)\b", re.IGNORECASE)
_NEXT: Final = re.compile(
    r"^\W*(?:(?:actually|sorry|oh|no|well|hm+|wait|ah|ok|please|pls|but|just|rather|better|make that|it['’]?s|that['’]?s|my name is"
    r"|with \w+)[\s,.:!]+)+"
    rf"(?:(?:please|use|say|go with|write|call me|it['’]?s)\s+)*(?P<name>{NAME}){_END}",
    re.IGNORECASE,
)
"""A message that only corrects the name of the message before it."""
_SPELLING: Final = compiled(
    r"(?:^\W*|[.!?,;—–-]\s+)(?:(?:actually|sorry|oh|btw|by the way|also|and|but|no|note|it['’]?s)[\s,]+)*"
    r"(?:(?:you|we|i) (?:write|spell) (?:it|that|my name)(?: as)?|(?:it(?:['’]?s| is)|my name is|that(?:['’]?s"
    r"| is))? ?(?:spelled|spelt|written)(?: as)?"
    r"|(?:it['’]?s |that['’]?s )?with an? [a-z](?: at the end| in the middle| please)?)\s*[,:—–-]?\s*"
    r"(?P<name>(?-i:[A-Z][a-zà-ÿ'’-]+))(?=\s*(?:[.!,;]|$)|\s+(?:with|not|btw|by the way|please)\b)",
    re.IGNORECASE,
)
"""How the writer spells the name that they gave before: "You write it Kat"."""
_INTRODUCED: Final = compiled(r"\b(?:i['’]?m|i am) (?-i:[A-Z][a-z]+)\s*[.!,]", re.IGNORECASE)
_NAMED: Final = compiled(
    rf"(?:\bcall me|\bmy name(?:['’]?s| is)|\bname['’]s|\bi go by|^\W*(?:hi|hello|hey)\b.*\bi(?:['’]?m| am)) {NAME}", re.IGNORECASE
)


def names_writer(text: str) -> bool:
    """Whether a message says the writer's name.

    Args:
        text: A message.
    """
    return _NAMED.search(text) is not None


def introduces_writer(text: str) -> bool:
    """Whether a message may introduce its writer, as "I'm Cat." does."""
    return names_writer(text) or _INTRODUCED.search(text) is not None


def with_right_name(text: str, *, after_name: bool, after_introduction: bool = False) -> str:
    """A message with a corrected name as a plain statement.

    Args:
        text: A message.
        after_name: Whether the writer's message before says their name.
        after_introduction: Whether the writer's message before may introduce them.
    """
    found = _IN_ONE.search(text)
    if found is not None and (_REJECTS.search(found["before"]) or _USES.search(found.group()[len(found["before"]) :])):
        return f"{text[: found.start()]}Call me {_name(found)}.{text[found.end() :]}"
    found = _SPELLING.search(text)
    if found is not None and (after_name or after_introduction or introduces_writer(text[: found.start() + 1])):
        return f"{text[: found.start()].rstrip(' ,')}. Call me {_name(found)}.{text[found.end() :]}".lstrip(". ")
    found = _NEXT.match(text) if after_name else None
    return text if found is None else f"Call me {_name(found)}.{text[found.end() :]}"


def _name(found: re.Match[str]) -> str:
    return found["name"].strip()
