"""Entity tags of revisions, and the precondition ``If-Match`` (RFC 9110, 13.1.1)."""

import re
from typing import Annotated, Final

from fastapi import Header

from api.problems import ProblemError

IfMatch = Annotated[
    str | None,
    Header(
        alias="If-Match",
        max_length=1000,
        description='The `ETag` of the resource as the client has read it, such as `"7"`, or several with commas. If the resource has '
        "changed since, the response is 412 and nothing changes. Default: the change does not depend on the revision.",
    ),
]

_TAG: Final = re.compile(r'(?:W/)?"([!#-~\x80-\xff]*)"')
_TAGS: Final = re.compile(rf"\s*{_TAG.pattern}(?:\s*,\s*{_TAG.pattern})*\s*")
_REVISION: Final = re.compile(r"[0-9]{1,18}")


def tag_of(revision: int) -> str:
    """The entity tag of a revision."""
    return f'"{revision}"'


def expected_revisions(if_match: str | None) -> frozenset[int] | None:
    """The revisions that a request's ``If-Match`` names; None if it accepts any.

    A weak tag counts as the strong one: proxies that compress weaken tags, and a revision identifies the whole content.

    Raises:
        ProblemError: If the header is malformed.
    """
    if if_match is None or if_match.strip() == "*":
        return None
    if not _TAGS.fullmatch(if_match):
        raise ProblemError(422, "invalid", 'If-Match: not an entity tag: send the ETag of the response with its quotation marks: "7"')
    tags = (found[1] for found in _TAG.finditer(if_match))
    return frozenset(int(tag) for tag in tags if _REVISION.fullmatch(tag))
