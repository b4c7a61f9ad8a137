"""Bodies of requests: too large ones are rejected before pydantic validates them, and of many problems the first are reported."""

from collections.abc import AsyncIterator
from typing import Annotated

import httpx
import orjson
import pytest
from fastapi import Depends, FastAPI
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from api.http.json_http import MAX_SEPARATORS, UNCOUNTED_BYTES, JsonResponse, separators_in
from api.http.request_body import MAX_BYTES, MAX_VALUES, json_body
from api.problems import MEDIA_TYPE, MOST_LISTED, add_problem_handlers


class Asked(BaseModel):
    model_config = ConfigDict(extra="forbid")

    words: list[str] = []
    numbers: dict[str, list[int]] = {}
    schema_name: str = Field(default="", alias="schema")


@pytest.fixture
async def http() -> AsyncIterator[httpx.AsyncClient]:
    app = FastAPI()
    add_problem_handlers(app)

    @app.post("/small")
    async def small(body: Annotated[Asked, Depends(json_body(Asked))]) -> Response:
        return JsonResponse(len(body.words))

    @app.post("/large")
    async def large(body: Annotated[Asked, Depends(json_body(Asked, max_bytes=None))]) -> Response:
        return JsonResponse(len(body.words))

    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://varve") as client:
        yield client


async def refusal(http: httpx.AsyncClient, body: object, *, path: str = "/small", status: int = 422) -> str:
    response = await http.post(path, content=body if isinstance(body, bytes) else orjson.dumps(body))
    assert (response.status_code, response.headers["content-type"]) == (status, MEDIA_TYPE), response.text[:300]
    assert len(response.content) < 3000
    detail: str = response.json()["detail"]
    return detail


async def test_each_body_has_its_own_size_limit(http: httpx.AsyncClient) -> None:
    body = orjson.dumps({"words": ["x" * 1000] * 1400})
    within, beyond = body.ljust(MAX_BYTES), body.ljust(MAX_BYTES + 1)
    assert (await http.post("/small", content=within)).json() == 1400
    assert "1500000 bytes" in await refusal(http, beyond, status=413)
    assert (await http.post("/large", content=beyond)).json() == 1400


async def test_its_lists_and_objects_have_a_bound(http: httpx.AsyncClient) -> None:
    """The names of the body's own fields count, too."""
    assert (await http.post("/small", json={"words": ["x"] * (MAX_VALUES - 1)})).json() == MAX_VALUES - 1
    assert (await refusal(http, {"words": ["x"] * MAX_VALUES})).startswith("words: a body may have at most 5000 values")
    assert "numbers: " in await refusal(http, {"numbers": {str(each): [] for each in range(MAX_VALUES)}})
    assert "words: " in await refusal(http, {"words": ["x"] * (MAX_VALUES // 2), "numbers": {"most": [0] * (MAX_VALUES // 2)}})
    assert (await refusal(http, [0] * (MAX_VALUES + 1))).startswith("a body may have")
    assert (await http.post("/large", json={"words": ["x"] * MAX_VALUES})).json() == MAX_VALUES


@pytest.mark.parametrize("path", ["/small", "/large"])
async def test_only_a_few_unknown_names_are_listed(http: httpx.AsyncClient, path: str) -> None:
    assert "name0: " in await refusal(http, {"schema": "x", "name0": 0}, path=path)
    problem = await refusal(http, {"schema": "x", **{f"name{each}": 0 for each in range(1000)}}, path=path)
    assert problem == "name0, name1, name2, name3, name4 and 995 more: unknown fields"
    assert "unknown fields" in await refusal(http, {("y" * 10_000) + str(each): 0 for each in range(100)}, path=path)


async def test_an_unknown_name_has_a_hint(http: httpx.AsyncClient) -> None:
    assert await refusal(http, {"schema": "x", "word": [], "name0": 0, "name1": 0}) == (
        "word: unknown name; did you mean 'words'?; name0: unknown name; expected some of: numbers, schema, words; "
        "name1: unknown name: correct its spelling, or leave it out"
    )


async def test_only_the_first_problems_are_listed(http: httpx.AsyncClient) -> None:
    problem = await refusal(http, {"words": [0] * 100})
    assert problem.startswith("words.0: Input should be a valid string; words.1: ")
    assert problem.endswith("; and 80 more problems")
    assert problem.count("Input") == MOST_LISTED


@pytest.mark.parametrize("path", ["/small", "/large"])
@pytest.mark.parametrize(
    ("body", "name"),
    [
        (b'{"words": ["ann"], "words": ["bob"]}', "words"),
        (b'{"words": ["ann"], "w\\u006frds": null}', "words"),
        (b'{"numbers": {"a": [], "a": []}}', "a"),
        (b'{"schema": "x", "schema": "x"}', "schema"),
    ],
)
async def test_a_name_given_twice_is_refused(http: httpx.AsyncClient, path: str, body: bytes, name: str) -> None:
    assert await refusal(http, body, path=path) == f"{name}: an object of the body has this name twice; send it once"


def test_a_text_has_one_value_more_than_separators() -> None:
    assert separators_in(b'[{"a": [1, 2]}, {"b": {}}]') == 7


@pytest.mark.parametrize("value", [b"[]", b"{}", b"0.0", b'"", ""'])
async def test_a_body_of_separators_is_refused_unparsed(http: httpx.AsyncClient, value: bytes) -> None:
    body = b'{"words": [' + (value + b",") * MAX_SEPARATORS + value + b"]}"
    assert f"more than {MAX_SEPARATORS} commas" in await refusal(http, body, path="/large", status=413)
    assert (await http.post("/large", json={"words": ["x" * UNCOUNTED_BYTES + "," * (MAX_SEPARATORS - 3)]})).json() == 1
    assert (await http.post("/large", json={"words": ["," * (UNCOUNTED_BYTES - 100)]})).json() == 1
