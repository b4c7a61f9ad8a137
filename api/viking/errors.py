"""VikingDB's error codes, and Varve's errors as such. Its client reads the code from the body, and picks the exception by it."""

from collections.abc import Mapping
from enum import IntEnum
from typing import Final


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


_CODES: Final[Mapping[int, Code]] = {
    401: Code.UNAUTHORIZED,
    403: Code.UNAUTHORIZED,
    404: Code.DATA_NOT_FOUND,
    429: Code.QUOTA_LIMITER,
}
_SERVER_ERROR: Final = 500


def code_of(error: Exception, status: int) -> Code:
    """The code of an error.

    Args:
        error: The error.
        status: The status of its response.
    """
    if isinstance(error, VikingError):
        return error.code
    return _CODES.get(status, Code.INTERNAL_SERVER if status >= _SERVER_ERROR else Code.INVALID_REQUEST)
