"""``X-Request-ID``: the caller's name for a request, or one made for it; in the answer and in every line of the log."""

import re
import uuid
from typing import Final

HEADER: Final = "x-request-id"

_FORM: Final = re.compile(r"[A-Za-z0-9._:/+=@-]{1,128}")
"""What other services give, and nothing that a log or a terminal could take for something else than a name."""


def request_id(given: str) -> str:
    """The id of a request.

    Args:
        given: The header's value; empty where there is none. One that is too long, or holds other signs than ids do, is passed over.
    """
    return given if _FORM.fullmatch(given) else uuid.uuid4().hex
