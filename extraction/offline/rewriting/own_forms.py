"""Reads forms that people fill in about themselves: "My details for the course:", then lines such as "Name: ..." and "Town: ..."."""

import re
from typing import Final

from extraction.offline.grammar.patterns import any_of, cue, listed
from extraction.offline.words.people import RELATIVES

_PAPERS: Final = any_of(
    listed("""
    details, data, info, information, form, registration, registration form, application, application form, sign-up, signup, profile,
    particulars, answers, entry, personal details, personal data, contact details, questionnaire
""")
)
_LEAD_IN: Final = re.compile(
    rf"^\W*(?:(?:hi|hello|hey|ok|okay|sure|so|and|thanks)\b[\s,!.]*)*(?:(?:here (?:are|is|come|comes)|here['’]s"
    rf"|these are|this is|please use"
    rf"|please note|i['’]?ve filled in|i filled in)\s+)?(?:all )?(?:my (?:own )?(?:[a-z]+ )?{_PAPERS}|the "
    rf"(?:[a-z]+ )?form about (?:me|myself)"
    r"|(?:[a-z]+ )?(?:details|info|information|facts) about (?:me|myself)|about (?:me|myself)|who i am"
    r"|(?:i )?filled (?:it|this|the form|your form) in(?: for (?:myself|me))?|(?:i )?filled in (?:the|your|this) form)\b"
    r"[^\n:]{0,50}[:.!]?\s*$",
    re.IGNORECASE,
)
"""The line before a form that announces the writer's own details."""
_OTHERS: Final = cue(
    listed("""
    customer*, client*, patient*, guest*, applicant*, candidate*, tenant*, pupil*, student*, employee*, member*, user*, character*, hero*,
    persona*, npc, sample, example, template, dummy, test data, mock, fake, fictional, invented, character sheet, she, he, his, her, their,
    from a, pasted, copied, forwarded, sent me, got this, old, former, previous, outdated
"""),
    RELATIVES,
)
"""Words of a lead-in or a label by which a form may be about somebody else."""
_LINE: Final = re.compile(r"^\s*[-*•·]?\s*(?P<label>[A-Za-z][A-Za-z /-]{1,28}?)\s*:[ \t]*(?P<value>[^\n]*?)\s*$")
_EMPTY: Final = re.compile(
    rf"(?:{any_of(listed('none, no, nope, nothing, n/a, na, yes, any, unknown, tbd, tba, todo, open, later'))}\b.*|\W*)", re.IGNORECASE
)
_STATEMENTS: Final = (
    (r"(?:full |first |given |my )?name", r"[^\W\d]\D{0,40}", "My name is {0}."),
    (r"(?:home )?(?:town|city)|home|residence|place of residence|lives? in|living in|location", r"[^\W\d]\D{0,40}", "I live in {0}."),
    (r"job|occupation|profession|work|trade|job title|current job", r"[A-Za-z][\w -]{1,40}", "I work as a {0}."),
    (r"(?:food )?allerg(?:y|ies)|allergic to", r"[A-Za-z][\w ,-]{1,60}", "I'm allergic to {0}."),
    (r"diet|eating habits", r"[A-Za-z][\w -]{1,30}", "I'm {0}."),
    (r"likes|hobby|hobbies|interests", r"[A-Za-z][\w ,-]{1,60}", "I like {0}."),
    (r"dislikes", r"[A-Za-z][\w ,-]{1,60}", "I dislike {0}."),
)
"""Labels, the form of their values, and the statements that they stand for."""
_COMPILED: Final = tuple((re.compile(label, re.IGNORECASE), re.compile(value), statement) for label, value, statement in _STATEMENTS)
_SAMPLE: Final = cue(
    listed("john doe, jane doe, jane roe, joe bloggs, max mustermann, anytown, springfield, your name, lorem ipsum, foo, xxx")
)
"""Values of a form that is only an example."""
_FEWEST_LINES: Final = 2
_LONGEST_FORM: Final = 1500


def with_form_as_statements(text: str) -> str:
    """A message that is a form about its writer as statements; any other message as it is.

    Args:
        text: A message.
    """
    if len(text) > _LONGEST_FORM or ":" not in text:
        return text
    if "\n" not in text:
        return _of_one_line(text)
    lead, *lines = [each for each in text.splitlines() if each.strip()]
    if _LEAD_IN.match(lead) is None or _OTHERS.search(lead) is not None:
        return text
    found = [_LINE.match(each) for each in lines]
    entries = [each for each in found if each is not None]
    if any(_SAMPLE.search(each["value"]) for each in entries):
        return text
    if len(entries) < _FEWEST_LINES or len(entries) < len(lines) or any(_OTHERS.search(each["label"]) for each in entries):
        return text
    stated = [statement for each in entries if (statement := _statement_of(each["label"], each["value"])) is not None]
    return " ".join(stated) if stated else text


def _of_one_line(text: str) -> str:
    """A form in one line without a line before it: "Occupation: locksmith. Home: Aalst."."""
    parts = re.split(r"(?<=\w)[.;|]\s+|, (?=[A-Z][a-z ]{2,20}:)", text.strip().rstrip("."))
    entries = [found for each in parts if (found := _LINE.match(each)) is not None and not _OTHERS.search(found["label"])]
    stated = [statement for each in entries if (statement := _statement_of(each["label"], each["value"])) is not None]
    return " ".join(stated) if len(parts) == len(stated) >= _FEWEST_LINES else text


def _statement_of(label: str, value: str) -> str | None:
    if _EMPTY.fullmatch(value) is not None:
        return None
    value = value.rstrip(" .;,")
    for pattern, values, statement in _COMPILED:
        if pattern.fullmatch(label) is not None:
            return statement.format(value) if values.fullmatch(value) is not None else None
    return None
