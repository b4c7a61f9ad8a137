"""The token that requests with side effects need: it belongs to one session, and does not reveal it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request

from api.auth.caller import KeyHash
from api.console.sessions import Session, is_tls, require_csrf_token
from api.problems import ProblemError

VALUES = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=60)


def request(method: str, **headers: str) -> Request:
    raw = [(name.replace("_", "-").lower().encode(), value.encode("latin-1", "replace")) for name, value in headers.items()]
    return Request({"type": "http", "method": method, "headers": raw, "scheme": "http", "path": "/v1/recall", "server": ("varve", 80)})


@given(value=VALUES, other=VALUES)
def test_a_token_belongs_to_one_session(value: str, other: str) -> None:
    session = Session(value, KeyHash.of("key"))
    require_csrf_token(request("POST", x_csrf_token=session.csrf_token), session)
    if other != value:
        with pytest.raises(ProblemError):
            require_csrf_token(request("POST", x_csrf_token=Session(other, KeyHash.of("key")).csrf_token), session)


@given(sent=st.text(max_size=60), method=st.sampled_from(["POST", "PUT", "PATCH", "DELETE", "get", "TRACE", "ANYTHING"]))
def test_other_tokens_are_refused(sent: str, method: str) -> None:
    session = Session("a-session", KeyHash.of("key"))
    with pytest.raises(ProblemError) as refused:
        require_csrf_token(request(method, x_csrf_token=sent), session)
    assert (refused.value.status_code, refused.value.kind) == (403, "csrf")
    assert session.csrf_token not in str(refused.value.detail)


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
def test_reading_needs_no_token_but_refuses_another_sessions(method: str) -> None:
    session = Session("a-session", KeyHash.of("key"))
    require_csrf_token(request(method), session)
    require_csrf_token(request(method, x_csrf_token=session.csrf_token), session)
    with pytest.raises(ProblemError):
        require_csrf_token(request(method, x_csrf_token=Session("of another tab", KeyHash.of("key")).csrf_token), session)


@pytest.mark.parametrize(
    ("forwarded", "secure"), [("https", True), ("HTTPS, http", True), ("http", False), ("http, https", False), ("", False)]
)
def test_the_first_proxy_decides_whether_tls_is_used(forwarded: str, secure: bool) -> None:
    assert is_tls(request("GET", x_forwarded_proto=forwarded)) is secure
