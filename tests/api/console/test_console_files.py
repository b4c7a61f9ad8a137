"""The files of the console: caching, compression, the page's own addresses, and what a page may load."""

import gzip
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.datastructures import Headers

from api.console.files import ConsoleFiles
from api.console.http import Console

PAGE = b"<!doctype html><title>Varve</title><script type=module src=/console/assets/index-abc.js></script>"
SCRIPT = b"console.log('a console');" * 100


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    built = tmp_path / "static"
    (built / "assets").mkdir(parents=True)
    (built / "index.html").write_bytes(PAGE)
    (built / "favicon.svg").write_bytes(b"<svg/>")
    (built / ".env").write_text("SECRET=1")
    (built / "assets" / "index-abc.js").write_bytes(SCRIPT)
    (built / "assets" / "font.woff2").write_bytes(b"\0" * 500)
    (tmp_path / "secret.txt").write_text("a secret")
    return built


@pytest.fixture
async def http(folder: Path) -> AsyncIterator[httpx.AsyncClient]:
    app = Starlette(routes=Console(ConsoleFiles(folder)).routes)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://varve") as client:
        yield client


async def test_hashed_files_are_kept_and_the_page_is_not(http: httpx.AsyncClient) -> None:
    page, script = await http.get("/console/"), await http.get("/console/assets/index-abc.js")
    assert (page.content, page.headers["content-type"]) == (PAGE, "text/html; charset=utf-8")
    assert page.headers["cache-control"] == "no-cache"
    assert (script.content, script.headers["content-type"]) == (SCRIPT, "text/javascript; charset=utf-8")
    assert script.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert (await http.get("/console/favicon.svg")).headers["content-type"] == "image/svg+xml"
    assert (await http.head("/console/")).content == b""
    moved = await http.get("/console", headers={"Host": "evil.example"})
    assert (moved.status_code, moved.headers["location"]) == (308, "/console/")


async def test_the_pages_own_addresses_give_the_page(http: httpx.AsyncClient) -> None:
    for path in ("memories", "memories/0d0b/history", "users/ann.b", "entities/a%2Fb", "recall?query=x", "a%0Ab"):
        answer = await http.get(f"/console/{path}")
        assert (answer.status_code, answer.content) == (200, PAGE)
    old = await http.get("/console/assets/index-old.js")
    assert (old.status_code, old.headers["cache-control"]) == (404, "no-store")
    assert "text/html" not in old.headers["content-type"]


async def test_every_response_restricts_the_page(http: httpx.AsyncClient) -> None:
    for path in ("/console", "/console/", "/console/assets/index-abc.js", "/console/assets/none.js", "/console/memories"):
        headers = (await http.get(path)).headers
        policy = dict(each.strip().partition(" ")[::2] for each in headers["content-security-policy"].split(";"))
        assert policy["default-src"] == "'none'"
        assert (policy["script-src"], policy["style-src"], policy["connect-src"]) == ("'self'", "'self'", "'self'")
        assert (policy["frame-ancestors"], policy["base-uri"], policy["form-action"]) == ("'none'", "'none'", "'self'")
        assert "unsafe" not in headers["content-security-policy"]
        assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "no-referrer")
        assert "strict-transport-security" not in headers
    over_tls = await http.get("/console/", headers={"X-Forwarded-Proto": "https"})
    assert over_tls.headers["strict-transport-security"].startswith("max-age=")


async def test_only_the_built_files_are_served(http: httpx.AsyncClient) -> None:
    for path in ("../secret.txt", "%2e%2e/secret.txt", "..%2fsecret.txt", "assets/../../secret.txt", "//etc/passwd", "%00", ".env"):
        answer = await http.get(f"http://varve/console/{path}")
        assert b"secret" not in answer.content.lower(), path
        assert b"root:" not in answer.content, path


async def test_a_text_is_compressed_and_checked_by_tag(folder: Path) -> None:
    files = ConsoleFiles(folder)
    packed = files.response("assets/index-abc.js", Headers({"accept-encoding": "br, gzip"}))
    assert gzip.decompress(bytes(packed.body)) == SCRIPT
    assert (packed.headers["content-encoding"], packed.headers["vary"]) == ("gzip", "Accept-Encoding")
    plain = files.response("assets/index-abc.js", Headers())
    assert "content-encoding" not in plain.headers
    assert plain.headers["etag"] != packed.headers["etag"]
    unchanged = files.response("assets/index-abc.js", Headers({"if-none-match": plain.headers["etag"]}))
    assert (unchanged.status_code, unchanged.body) == (304, b"")
    assert "content-encoding" not in files.response("assets/font.woff2", Headers({"accept-encoding": "gzip"})).headers


async def test_missing_files_are_explained(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "none"):
        files = ConsoleFiles(folder)
        assert not files.are_built
        answer = files.response("", Headers())
        assert (answer.status_code, answer.headers["content-type"]) == (404, "text/html; charset=utf-8")
        assert b"npm run build" in bytes(answer.body)


@given(path=st.text(max_size=50))
def test_any_path_gets_a_response(path: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.getbasetemp() / "any-path"
    folder.mkdir(exist_ok=True)
    (folder / "index.html").write_bytes(PAGE)
    answer = ConsoleFiles(folder).response(path, Headers())
    assert answer.status_code == (404 if path.startswith("assets/") else 200)
