"""Varve's errors as VikingDB's codes."""

import pytest
from varve_client import MessagesRefusedError, ServiceProblemError, ServiceUnreachableError

from api.problems import ProblemError
from api.viking.errors import EXPECTED, Code, CollectionError, FilterError, NotFoundError, VikingError, refusal_of
from memory.errors import MalformedRecordError


def problem(status: int) -> ServiceProblemError:
    return ServiceProblemError("x", status=status, kind="k", detail="the reason", trace_id=None, members={})


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (401, Code.UNAUTHORIZED),
        (403, Code.UNAUTHORIZED),
        (404, Code.DATA_NOT_FOUND),
        (409, Code.INVALID_REQUEST),
        (413, Code.INVALID_REQUEST),
        (422, Code.INVALID_REQUEST),
        (429, Code.QUOTA_LIMITER),
        (500, Code.INTERNAL_SERVER),
        (503, Code.INTERNAL_SERVER),
    ],
)
def test_a_status_has_its_code_and_reason(status: int, code: Code) -> None:
    found = refusal_of(problem(status))
    assert (found.status, found.code, found.message) == (status, code, "the reason")
    assert ("Retry-After" in found.headers) is (status in (429, 503))
    assert refusal_of(ProblemError(status, "k", "the reason")).code is code


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (VikingError("x"), Code.INVALID_REQUEST),
        (FilterError("x"), Code.INVALID_FILTER),
        (CollectionError("x"), Code.COLLECTION_NOT_EXIST),
        (NotFoundError("x"), Code.DATA_NOT_FOUND),
        (MalformedRecordError("x"), Code.INVALID_REQUEST),
        (MessagesRefusedError("x", refused=[]), Code.INVALID_REQUEST),
        (ServiceUnreachableError("x"), Code.INTERNAL_SERVER),
    ],
)
def test_errors_have_codes_and_no_successful_status(error: Exception, code: Code) -> None:
    assert isinstance(error, EXPECTED)
    found = refusal_of(error)
    assert found.code is code
    assert found.status >= 400
