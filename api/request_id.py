"""``X-Request-ID``: the caller's name for a request, or one made for it; in the answer and in every line of the log."""

import re
import uuid
from typing import Final

HEADER: Final = "x-request-id"

_FORM: Final = re.compile(r"[A-Za-z0-9._:/+=@-]{1,128}")
"""Characters that other services use, without any that a log or a terminal could interpret."""


def request_id(given: str) -> str:
    """The id of a request.

    Args:
        given: The header's value; empty where there is none. One that is too long, or holds other signs than ids do, is passed over.
    """
    return given if _FORM.fullmatch(given) else uuid.uuid4().hex
