"""The tables of supported and unsupported calls in the documents are those of the code."""

import ast
import re
import tomllib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
import pytest_asyncio

from api.mcp.server import build_server
from api.mem0.http import ROUTES as PLATFORM
from api.mem0.server import ROUTES as SELF_HOSTED
from api.viking.http import INSTEAD, OPERATIONS
from runtime.settings import Mem0Settings, VikingSettings
from tests.api.running_service import RunningService, serving

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]

ROOT: Final = Path(__file__).parents[2]
CALL: Final = re.compile(r"`(GET|POST|PUT|PATCH|DELETE) (/[^`\s]*)`")
REFUSED: Final = ("/profile/delete", "/profile/batch_delete")
"""Paths of VikingDB's client that have an operation which always refuses."""


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text()


def tables(text: str) -> list[list[list[str]]]:
    """The tables of a page, each as rows of cells without its head."""
    blocks = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    return [[[cell.strip() for cell in row.strip("|").split("|")] for row in block.strip().split("\n")[2:]] for block in blocks]


def section(text: str, heading: str) -> str:
    return text.partition(f"## {heading}\n")[2].partition("\n## ")[0]


def calls(rows: list[list[str]], column: int) -> set[tuple[str, str]]:
    return {(method, path) for row in rows for method, path in CALL.findall(row[column])}


def plain(path: str) -> str:
    return re.sub(r"\{(\w+):\w+\}", r"{\1}", path)


MEM0: Final = page("build/mem0.md")
UNSUPPORTED_MEM0: Final = sorted(calls(tables(section(MEM0, "What differs or is missing"))[0], 1))
UNSUPPORTED_SERVER: Final = sorted(calls(tables(section(MEM0, "The self-hosted server"))[1], 0))


async def test_mem0s_supported_calls_are_the_routes() -> None:
    (rows,) = tables(section(MEM0, "What works"))
    assert calls(rows, 1) == {(method, plain(path)) for method, path, _ in PLATFORM}


async def test_the_self_hosted_calls_are_the_routes() -> None:
    supported, _ = tables(section(MEM0, "The self-hosted server"))
    assert calls(supported, 0) == {(method, plain(path)) for method, path, _ in SELF_HOSTED}


async def test_vikings_tables_have_every_path() -> None:
    text = page("build/viking.md")
    (works,), (missing, _) = tables(section(text, "What works")), tables(section(text, "What differs or is missing"))
    works_paths, missing_paths = ({path for row in rows for path in re.findall(r"`(/[^`]+)`", row[1])} for rows in (works, missing))
    assert works_paths == {*OPERATIONS, "/ping"} - {*REFUSED}
    assert missing_paths == {*INSTEAD, *REFUSED}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def http(service: RunningService) -> AsyncIterator[httpx.AsyncClient]:
    facades = {"mem0": Mem0Settings(enabled=True), "viking": VikingSettings(enabled=True)}
    async with serving(service.settings.model_copy(update=facades)) as running:
        yield running


@pytest.mark.parametrize(("method", "path"), UNSUPPORTED_MEM0)
async def test_mem0s_unsupported_calls_say_so(service: RunningService, http: httpx.AsyncClient, method: str, path: str) -> None:
    response = await http.request(method, f"/mem0{re.sub(r'{[^}]+}', 'x', path)}", headers=service.auth("acme"))
    assert response.status_code == 501, response.text
    assert "Varve does not have" in response.json()["detail"]


async def test_a_path_of_mem0_without_slash_is_explained(service: RunningService, http: httpx.AsyncClient) -> None:
    response = await http.get("/mem0/v1/ping", headers=service.auth("acme"))
    assert (response.status_code, response.json()) == (
        501,
        {"detail": "Varve does not have GET /v1/ping of mem0: the paths of mem0's API end in a slash"},
    )


@pytest.mark.parametrize(("method", "path"), UNSUPPORTED_SERVER)
async def test_unsupported_calls_of_the_server_say_so(service: RunningService, http: httpx.AsyncClient, method: str, path: str) -> None:
    response = await http.request(method, f"/mem0/server{path}", headers={"X-API-Key": service.keys["acme"]})
    assert response.status_code == 501, response.text


@pytest.mark.parametrize("path", [*INSTEAD, *REFUSED])
async def test_vikings_unsupported_paths_say_so(service: RunningService, http: httpx.AsyncClient, path: str) -> None:
    body = {"collection_name": "companion", "profile_id": "x", "filter": {"user_id": "ann"}}
    response = await http.post(f"/api/memory{path}", json=body, headers=service.auth("acme"))
    assert (response.status_code, response.json()["code"]) == (400, 1000003)
    assert not response.json()["message"].endswith("/openapi.json")


async def test_the_table_of_mcp_has_every_tool() -> None:
    def connect(_: Any) -> Any:
        raise AssertionError("nothing is called")

    server = build_server(connect)
    (rows,) = tables(section(page("build/mcp.md"), "Tools").partition("### Forget")[0])
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row[0])} == {each.name for each in await server.list_tools()}
    (resources,) = tables(section(page("build/mcp.md"), "Resources"))
    assert {row[0].strip("`") for row in resources} == {each.uri_template for each in await server.list_resource_templates()}


async def test_the_table_of_the_console_has_every_page() -> None:
    source = (ROOT / "console" / "src" / "shell" / "navigation.ts").read_text()
    (rows,) = tables(section(page("operate/console.md"), "Pages"))
    assert {row[0] for row in rows} == set(re.findall(r'title: "([^"]+)"', source))
    for title, scope, operators in re.findall(r'title: "([^"]+)".*?scope: "(\w+)", forOperators: (\w+)', source):
        (row,) = (each for each in rows if each[0] == title)
        assert row[2].startswith(f"`{scope}`"), title
        assert row[3].startswith("yes" if operators == "true" else "no"), title


async def test_the_table_of_frameworks_has_every_class() -> None:
    rows, *_ = tables(page("build/frameworks.md"))
    project = tomllib.loads((ROOT / "integrations" / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].keys()
    for row in rows:
        modules = re.findall(r"`varve_integrations\.(\w+)\.(\w+)`", row[2])
        assert modules, row
        for module, name in modules:
            tree = ast.parse((ROOT / "integrations" / "varve_integrations" / f"{module}.py").read_text())
            assert name in {each.name for each in tree.body if isinstance(each, ast.ClassDef)}
        assert row[1].strip("`") in extras, row[1]
    assert len(rows) == len(extras)
