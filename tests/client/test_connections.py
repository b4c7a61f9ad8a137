"""Clients after their close, in other event loops and threads, and in forked processes."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import orjson
import pytest
from varve_client import UnusableClientError, VarveClient


class _Echo(BaseHTTPRequestHandler):
    """Answers a request for a context with its user. Connections stay open."""

    protocol_version = "HTTP/1.1"
    wbufsize = 65_536

    def do_POST(self) -> None:
        user = orjson.loads(self.rfile.read(int(self.headers["Content-Length"])))["user"]
        body = orjson.dumps({"context": user, "tokens": 1, "memories": [], "messages": []})
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Prints nothing."""


@pytest.fixture
def url() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Echo) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


FORKED = """
import os, sys
import httpx
from varve_client import UnusableClientError, VarveClient

def asked(user):
    return {varve.context("x", user=user).context for _ in range(50)}

def refused(of_http):
    try:
        of_http.context("x", user="ann")
    except UnusableClientError as error:
        return "before this process was forked" in str(error)

http = httpx.Client()
with VarveClient(sys.argv[1], api_key="k") as varve:
    given = VarveClient(sys.argv[1], api_key="k", http=http)
    given.context("x", user="ann")
    asked("ann")
    child = os.fork()
    if child == 0:
        os._exit(0 if asked("bob") == {"bob"} and refused(given) else 1)
    in_parent = asked("ann")
    _, status = os.waitpid(child, 0)
    assert (in_parent, os.waitstatus_to_exitcode(status)) == ({"ann"}, 0)
"""


IN_LOOPS = """
import asyncio, sys
from varve_client import AsyncVarveClient

varve = AsyncVarveClient(sys.argv[1], api_key="k")

async def ask(user):
    found = await asyncio.gather(*(varve.context("x", user=user) for _ in range(10)))
    return {each.context for each in found}

async def ask_here_and_in_another_loop():
    return await ask("ann"), await asyncio.to_thread(asyncio.run, ask("bob"))

assert [asyncio.run(ask(each)) for each in ("ann", "bob")] == [{"ann"}, {"bob"}]
assert asyncio.run(ask_here_and_in_another_loop()) == ({"ann"}, {"bob"})
asyncio.run(varve.aclose())
"""


@pytest.mark.parametrize("script", [FORKED, IN_LOOPS], ids=["forked", "in event loops"])
def test_no_connection_is_used_by_another_owner(url: str, script: str) -> None:
    done = subprocess.run([sys.executable, "-c", script, url], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr


def test_a_closed_client_says_so(url: str) -> None:
    given = httpx.Client()
    own, of_http = VarveClient(url, api_key="k"), VarveClient(url, api_key="k", http=given)
    own.close()
    own.close()
    given.close()
    for varve in (own, of_http):
        with pytest.raises(UnusableClientError, match="this client is closed"):
            varve.status()
