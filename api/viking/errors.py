"""VikingDB's error codes, and Varve's errors as such. Its client reads the code from the body, and picks the exception by it."""

from collections.abc import Mapping
from enum import IntEnum
from typing import Final, NamedTuple

from varve_client import MessagesRefusedError, ServiceProblemError, ServiceUnreachableError

from api.problems import RETRY_AFTER_S, ProblemError
from memory.errors import RecordError


class Code(IntEnum):
    """The codes that this service sends."""

    UNAUTHORIZED = 1000001
    INVALID_REQUEST = 1000003
    COLLECTION_NOT_EXIST = 1000005
    DATA_NOT_FOUND = 1000011
    INVALID_FILTER = 1000019
    INTERNAL_SERVER = 1000028
    QUOTA_LIMITER = 1000029


class VikingError(ValueError):
    """A request is not one of VikingDB's, or needs something that Varve does not have."""

    code: Code = Code.INVALID_REQUEST


class FilterError(VikingError):
    """A filter is invalid, or needs data that Varve does not store."""

    code = Code.INVALID_FILTER


class CollectionError(VikingError):
    """A request names another collection than the schema of the tenant."""

    code = Code.COLLECTION_NOT_EXIST


class NotFoundError(VikingError):
    """There is no such session or profile."""

    code = Code.DATA_NOT_FOUND


class Refusal(NamedTuple):
    """An error response."""

    status: int
    code: Code
    message: str
    headers: Mapping[str, str]


EXPECTED: Final = (VikingError, RecordError, MessagesRefusedError, ProblemError, ServiceProblemError, ServiceUnreachableError)
"""The errors that :func:`refusal_of` takes."""

_CODES: Final[Mapping[int, Code]] = {
    401: Code.UNAUTHORIZED,
    403: Code.UNAUTHORIZED,
    404: Code.DATA_NOT_FOUND,
    429: Code.QUOTA_LIMITER,
}
_BAD_REQUEST: Final = 400
_SERVER_ERROR: Final = 500
_TEMPORARY: Final = (429, 503)


def refusal_of(error: Exception) -> Refusal:
    """The response for one of the :data:`EXPECTED` errors. Its status is never 200: the client raises only for other statuses.

    Args:
        error: The error.
    """
    match error:
        case VikingError():
            return Refusal(_BAD_REQUEST, error.code, str(error), {})
        case ProblemError():
            return Refusal(error.status_code, _code_of(error.status_code), str(error.detail), error.headers or {})
        case ServiceProblemError():
            headers = {"Retry-After": str(RETRY_AFTER_S)} if error.status in _TEMPORARY else {}
            return Refusal(error.status, _code_of(error.status), error.detail, headers)
        case ServiceUnreachableError():
            return Refusal(503, Code.INTERNAL_SERVER, str(error), {"Retry-After": str(RETRY_AFTER_S)})
        case _:
            return Refusal(_BAD_REQUEST, Code.INVALID_REQUEST, str(error), {})


def _code_of(status: int) -> Code:
    return _CODES.get(status, Code.INTERNAL_SERVER if status >= _SERVER_ERROR else Code.INVALID_REQUEST)
