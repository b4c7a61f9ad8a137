"""The results and errors that the responses of the service mean, without any I/O: both clients share this module."""

from collections.abc import Sequence
from typing import TypeVar
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx
from pydantic import ValidationError

from varve_client._calls import Call, Outcome
from varve_client.errors import MessagesRefusedError, ServiceProblemError, ServiceUnreachableError
from varve_client.models import SentMessage

T = TypeVar("T")


def result_of(call: Call[T], outcome: httpx.Response | httpx.RequestError, *, url: str) -> T:
    """The result of a request's last attempt.

    Raises:
        ServiceUnreachableError: If it got no response.
        ServiceProblemError: If the service refused the request, or its response cannot be read.
    """
    if isinstance(outcome, httpx.RequestError):
        raise _unreachable(url, outcome) from outcome
    response = outcome
    if not response.is_success:
        raise _problem(response, f"{url}{call.path}")
    try:
        return call.parse(response.json())
    except ValueError as error:
        detail = _parse_failure(error)
        raise ServiceProblemError(
            f"{url}{call.path} answered {response.status_code} with a body that this client cannot read: {detail}",
            status=response.status_code,
            kind="",
            detail=detail,
            trace_id=None,
            members={},
        ) from error


def _unreachable(url: str, error: httpx.RequestError) -> ServiceUnreachableError:
    if isinstance(error, httpx.TimeoutException):
        return ServiceUnreachableError(f"{url} gave no answer in time ({type(error).__name__}): its timeout is the client's timeout_s")
    if isinstance(error, httpx.DecodingError):
        return ServiceUnreachableError(f"{url} sent a response that cannot be decoded ({error}): does a proxy in between damage it?")
    reason = f"{error or type(error).__name__}{_through_proxy(url)}"
    return ServiceUnreachableError(f"{url} cannot be reached ({reason}): is `varve dev` or `varve serve` running?")


def _through_proxy(url: str) -> str:
    """The proxy of a request, if the environment names one. Its address is not shown, because it may contain a password."""
    address, proxies = urlsplit(url), getproxies()
    host = address.hostname or ""
    variable = next((name for name in (address.scheme, "all") if name in proxies), None)
    if variable is None or proxy_bypass(host):
        return ""
    return f", through the proxy of {variable.upper()}_PROXY; NO_PROXY={host} avoids it"


def sent_of(outcomes: Sequence[Outcome]) -> list[SentMessage]:
    """The messages that are durable.

    Raises:
        MessagesRefusedError: If others were refused.
    """
    refused = [each for each in outcomes if isinstance(each, dict)]
    sent = [each for each in outcomes if isinstance(each, SentMessage)]
    if refused:
        first = refused[0]
        problem = first.get("problem", {})
        reason = problem.get("detail") or problem.get("title")
        raise MessagesRefusedError(
            f"the service refused {len(refused)} of {len(outcomes)} messages, first {first.get('id') or first['index']}: {reason}",
            refused=refused,
            sent=sent,
        )
    return sent


def _parse_failure(error: ValueError) -> str:
    """One line about invalid JSON, or about the first field that has another form than expected."""
    if not isinstance(error, ValidationError):
        return f"invalid JSON: {error}"
    first = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"


def _problem(response: httpx.Response, url: str) -> ServiceProblemError:
    try:
        members = response.json()
    except ValueError:
        members = {}
    if not isinstance(members, dict):
        members = {}
    detail = str(members.get("detail") or members.get("title") or response.text[:200] or response.reason_phrase)
    return ServiceProblemError(
        f"{url} answered {response.status_code}: {detail}",
        status=response.status_code,
        kind=str(members.get("type", "")).rpartition(":")[2],
        detail=detail,
        trace_id=members.get("trace_id"),
        members=members,
    )
