"""Whether the window says what a model wrote: an invention under the number of a real message is valid, and only its words betray it.

The check compares words. It cannot see a false statement in the window's own words, and an honest one in other words may fail it. So what
fails is stored nevertheless, counted, and marked (:attr:`memory.records.Event.unsupported`).
"""

import re
from dataclasses import replace
from typing import Final

from extraction.drafts import Draft
from extraction.port import ExtractionContext
from memory.records import Message, Window
from memory.texts.terms import terms_of

_LEAST_SHARE: Final = 0.3
"""Share of an event's words that the window must have. Of 62 honest events in free wording one failed, of 50 inventions 46."""
_FEWEST_WORDS: Final = 2
"""An event with fewer words of its own shows too little."""
_PREFIX: Final = 5
"""Letters by which words of one family are recognised where stemming does not join them: "vegetarian", "vegetables"."""
_DATE: Final = re.compile(r"\b\d{4}(?:-\d{2}){0,2}(?:T\d{2}:\d{2})?\b|\b\d{1,2}:\d{2}\b")
_NAME: Final = re.compile(r"(?<=[\w,;:)] )[A-Z][^\W\d_]{2,}")
_GERMAN: Final = frozenset({"und", "ich", "nicht", "der", "das", "ist", "ein", "eine", "mit", "auf", "habe", "hab"})
"""Words by which German is recognised. It capitalises all nouns, so a capital letter makes no name there."""
_LEAST_GERMAN_SHARE: Final = 0.05
_WORD: Final = re.compile(r"[^\W\d_]+")
_CALENDAR: Final = frozenset(
    terms_of(
        "January February March April May June July August September October November December Monday Tuesday Wednesday Thursday Friday "
        "Saturday Sunday spring summer autumn winter today yesterday tomorrow"
    )
)
_OF_REPORTS: Final = frozenset(
    terms_of("user assistant says said asks asked tells told mentions mentioned reports reported states stated wants plans feels thinks")
)
"""Words that a model adds when it reports what somebody said."""


def mark_unsupported(draft: Draft, window: Window, context: ExtractionContext) -> Draft:
    """The draft with its unsupported events marked: a name, or most of the words, are nowhere in what the model was shown.

    Patches are too short to judge: of 37 honest ones, 4 would be marked.

    Args:
        draft: A model's items.
        window: The window that they are from.
        context: What the model was shown besides: an event may name "her brother" as a known entity does.
    """
    if not draft.events:
        return draft
    shown = [context.session_summary, *(each.content for each in context.entities)]
    said = frozenset(term for text in (*shown, *map(_text_of, window.messages)) for term in terms_of(text))
    people = frozenset(term for each in window.messages for term in terms_of(f"{each.speaker or ''} {each.user}"))
    families = frozenset(each[:_PREFIX] for each in said if len(each) >= _PREFIX)
    has_names = not _is_german(window)
    marked = (
        replace(each, unsupported=not _is_supported(each.content, said | people, families, people, has_names=has_names))
        for each in draft.events
    )
    return replace(draft, events=tuple(marked))


def _is_german(window: Window) -> bool:
    words = [word for each in window.messages for word in _WORD.findall(each.text)]
    return sum(word in _GERMAN for word in words) > _LEAST_GERMAN_SHARE * len(words)


def _is_supported(content: str, said: frozenset[str], families: frozenset[str], people: frozenset[str], *, has_names: bool) -> bool:
    text = _DATE.sub(" ", content)
    words = frozenset(terms_of(text)) - _CALENDAR - _OF_REPORTS - people
    known = {each for each in words if each in said or each[:_PREFIX] in families}
    if has_names and (frozenset(terms_of(" ".join(_NAME.findall(text)))) & words) - known:
        return False
    return len(words) < _FEWEST_WORDS or len(known) >= _LEAST_SHARE * len(words)


def _text_of(message: Message) -> str:
    parts: list[object] = [message.text]
    for call in message.calls:
        parts += [call.name, call.arguments, call.result, call.error]
    parts += [each.content for each in message.tool_results]
    return " ".join(str(each) for each in parts if each)
