"""Varve's errors as VikingDB's codes."""

import pytest
from varve_client import MessagesRefusedError, ServiceProblemError, ServiceUnreachableError

from api.facades import COMMON_ERRORS, refusal_of
from api.problems import ProblemError
from api.viking.errors import Code, CollectionError, FilterError, NotFoundError, VikingError, code_of
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
    assert (found.status, code_of(problem(status), found.status), found.detail) == (status, code, "the reason")
    assert ("Retry-After" in found.headers) is (status in (429, 503))
    refused = ProblemError(status, "k", "the reason")
    assert code_of(refused, refusal_of(refused).status) is code


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (VikingError("x"), Code.INVALID_REQUEST),
        (FilterError("x"), Code.INVALID_FILTER),
        (CollectionError("x"), Code.COLLECTION_NOT_EXIST),
        (NotFoundError("x"), Code.DATA_NOT_FOUND),
        (MalformedRecordError("x"), Code.INVALID_REQUEST),
        (MessagesRefusedError("x", refused=[], sent=[]), Code.INVALID_REQUEST),
        (ServiceUnreachableError("x"), Code.INTERNAL_SERVER),
    ],
)
def test_errors_have_codes_and_no_successful_status(error: Exception, code: Code) -> None:
    assert isinstance(error, (*COMMON_ERRORS, VikingError))
    found = refusal_of(error)
    assert code_of(error, found.status) is code
    assert found.status >= 400


@pytest.mark.parametrize(("statuses", "status"), [([422], 400), ([422, 503], 503), ([429, 422], 429)])
def test_refused_messages_may_be_sent_again(statuses: list[int], status: int) -> None:
    found = refusal_of(MessagesRefusedError("x", refused=[{"index": 0, "status": each, "problem": {}} for each in statuses], sent=[]))
    assert found.status == status
    assert ("Retry-After" in found.headers) is (status != 400)
