"""``/mem0/server``: the routes of mem0's self-hosted server, for applications that call its REST API.

An application sets its base address to ``http://HOST/mem0/server``. The prefix is needed because the server's paths, such as
``/memories`` and ``/search``, have no version: at the root they would be paths of Varve, and below ``/mem0`` they would mix with those
of mem0's hosted platform. A key of Varve is sent as ``X-API-Key`` or as ``Authorization: Bearer``.

The server ignores fields that it does not know. Here they are refused: an ignored ``filters`` or ``userId`` would select every memory.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from starlette.routing import Route

from api.http.json_http import read_json
from api.mem0.filters import MemoryFilters
from api.mem0.requests import Answer, FormError, Mem0Endpoints, Mem0Request
from api.mem0.translation import RequestError
from api.problems import ProblemError

PREFIX: Final = "/server"
_SCHEMES: Final = ("bearer",)
_MAX_LISTED: Final = 1000
_DEFAULT_TOP_K: Final = 20
_ID_OF_TYPE: Final[Mapping[str, str]] = {"user": "user_id", "agent": "agent_id", "run": "run_id"}
"""The server's types of entities; it has no ``app_id``."""

_IDS: Final = tuple(_ID_OF_TYPE.values())
_FIELDS: Final = ("id", "memory", *_IDS, "expiration_date", "created_at", "updated_at")
_ANY: Final = "*"
"""The value of an id in a filter that stands for every value."""

_INSTEAD: Final[Mapping[str, str]] = {
    "configure": "an operator configures models and stores with settings (VARVE_...)",
    "generate-instructions": "the schema of a tenant decides what is extracted",
    "api-keys": "GET /v1/keys lists the keys of the tenant, and an operator makes and revokes keys with `varve keys`",
    "requests": "the metrics count requests",
    "auth": "Varve has keys and no accounts of persons; send a key as X-API-Key or as Authorization: Bearer",
}
"""Beginnings of paths without an operation, and what Varve has instead."""

_Name = Annotated[str, StringConstraints(min_length=1)]
FormT = TypeVar("FormT", bound="_Form")


class _Form(BaseModel):
    """Fields of a request. Others are refused."""

    model_config = ConfigDict(extra="forbid")


class _Ids(_Form):
    user_id: _Name | None = None
    agent_id: _Name | None = None
    run_id: _Name | None = None

    @property
    def given(self) -> dict[str, str]:
        """The ids that the request has."""
        return {name: value for name in _IDS if (value := getattr(self, name)) is not None}


class _Message(BaseModel):
    """A message; its other fields, such as ``name``, are passed on."""

    model_config = ConfigDict(extra="allow")

    role: str
    content: str


class _NewMemories(_Ids):
    messages: Annotated[list[_Message], Field(min_length=1)]
    metadata: dict[str, Any] | None = None
    expiration_date: str | None = None
    infer: bool | None = None
    memory_type: str | None = None
    prompt: str | None = None


class _Listing(_Ids):
    top_k: Annotated[int, Field(ge=0, le=_MAX_LISTED)] | None = None
    show_expired: bool = False


class _Search(_Ids):
    query: str
    filters: dict[str, Any] | None = None
    top_k: int | None = None
    threshold: float | None = None
    explain: bool | None = None
    show_expired: bool | None = None


class _Update(_Form):
    text: str | None = None
    metadata: dict[str, Any] | None = None
    expiration_date: str | None = None


class _Nothing(_Form):
    pass


def server_routes(endpoints: Mem0Endpoints) -> list[Route]:
    """The routes below :data:`PREFIX`.

    Args:
        endpoints: Makes the endpoints.
    """
    # As in mem0's server, only a sign-in needs no key.
    sign_in = endpoints.open_route(f"{PREFIX}/auth/{{rest:rest}}", _unsupported)
    return [sign_in, *endpoints.routes(ROUTES, prefix=PREFIX, schemes=_SCHEMES, other=_unsupported)]


async def _add(call: Mem0Request) -> dict[str, Any]:
    body = await _body(call, _NewMemories)
    if not body.given:
        raise RequestError(f"At least one identifier ({', '.join(_IDS)}) is required.")
    if body.memory_type or body.prompt:
        raise RequestError("memory_type, prompt: not available; the schema of the tenant decides what is extracted")
    # Memories are extracted after the answer, so it names none of them.
    return {"results": [], **await call.operations.add(body.model_dump(exclude_none=True))}


async def _list(call: Mem0Request) -> dict[str, Any]:
    query = _query(call, _Listing)
    _refuse_expired(query.show_expired)
    most = query.top_k if query.top_k is not None else _DEFAULT_TOP_K if query.given else _MAX_LISTED
    page = await call.operations.get_all(query.given, {"page_size": str(max(most, 1))})
    return {"results": [_item(each) for each in page["results"][:most]]}


async def _get(call: Mem0Request) -> dict[str, Any]:
    return _item(await call.operations.get(call.path("memory_id")))


async def _search(call: Mem0Request) -> dict[str, Any]:
    body = await _body(call, _Search)
    _refuse_expired(body.show_expired)
    if body.explain:
        raise RequestError("explain: not available; POST /v1/recall of Varve explains scores")
    if not body.given and not any(name in (body.filters or {}) for name in _IDS):
        raise RequestError(f"filters must contain at least one of: {', '.join(_IDS)}")
    found = await call.operations.search({"top_k": _DEFAULT_TOP_K, **body.model_dump(exclude_none=True)})
    return {"results": [_item(each) for each in found["results"]]}


async def _update(call: Mem0Request) -> dict[str, Any]:
    body = await _body(call, _Update)
    await call.operations.update(call.path("memory_id"), body.model_dump(exclude_none=True))
    return {"message": "Memory updated successfully!"}


async def _history(call: Mem0Request) -> list[dict[str, Any]]:
    steps = await call.operations.history(call.path("memory_id"))
    return [
        {
            **{name: step[name] for name in ("id", "memory_id", "old_memory", "new_memory", "event", "created_at", "updated_at")},
            "is_deleted": step["event"] == "DELETE",
            "actor_id": None,
            "role": None,
        }
        for step in steps
    ]


async def _delete(call: Mem0Request) -> dict[str, Any]:
    await call.operations.delete(call.path("memory_id"))
    return {"message": "Memory deleted successfully"}


async def _delete_all(call: Mem0Request) -> dict[str, Any]:
    ids = _query(call, _Ids).given
    if not ids:
        raise RequestError("At least one identifier is required.")
    await _refuse_body(call)
    await _delete_of(call, ids)
    return {"message": "All relevant memories deleted"}


async def _reset(call: Mem0Request) -> dict[str, Any]:
    _query(call, _Nothing)
    await _refuse_body(call)
    return {"message": "All memories reset: erasures have begun", "erasures": await call.operations.erase_all()}


async def _entities(call: Mem0Request) -> list[dict[str, Any]]:
    _query(call, _Nothing)
    totals: Counter[tuple[str, str]] = Counter()
    first: dict[tuple[str, str], str] = {}
    last: dict[tuple[str, str], str] = {}
    for memory in await call.operations.listed(MemoryFilters(None)):
        for entity_type, name in _ID_OF_TYPE.items():
            if memory[name] is None:
                continue
            key = (entity_type, memory[name])
            totals[key] += 1
            first[key] = min(first.get(key, memory["created_at"]), memory["created_at"])
            last[key] = max(last.get(key, memory["updated_at"]), memory["updated_at"])
    return [
        {"id": key[1], "type": key[0], "total_memories": totals[key], "created_at": first[key], "updated_at": last[key]}
        for key in sorted(totals)
    ]


async def _delete_entity(call: Mem0Request) -> dict[str, Any]:
    """Erases a user. For an agent or a run it deletes the memories with that id, of all users, as mem0's server does."""
    entity_type, name = call.path("kind"), call.path("name")
    _query(call, _Nothing)
    if entity_type not in _ID_OF_TYPE:
        raise RequestError(f"{entity_type!r} is no type of entity; expected {', '.join(_ID_OF_TYPE)}")
    if entity_type == "user":
        erased = await call.operations.delete_entity(entity_type, name)
        return {"message": "Entity deleted", "erasure": erased["erasure"]}
    if not name:
        raise RequestError("the path must end with the name of the entity")
    await _delete_of(call, {_ID_OF_TYPE[entity_type]: name})
    return {"message": "Entity deleted"}


async def _unsupported(call: Mem0Request) -> None:
    rest = call.request.url.path.partition(f"{PREFIX}/")[2]
    instead = _INSTEAD.get(rest.partition("/")[0], "Varve's own API is described at /openapi.json")
    raise ProblemError(501, "not-supported", f"Varve does not have {call.request.method} /{rest} of mem0's server: {instead}")


ROUTES: Final[tuple[tuple[str, str, Answer], ...]] = (
    ("POST", "/memories", _add),
    ("GET", "/memories", _list),
    ("DELETE", "/memories", _delete_all),
    ("GET", "/memories/{memory_id}", _get),
    ("PUT", "/memories/{memory_id}", _update),
    ("DELETE", "/memories/{memory_id}", _delete),
    ("GET", "/memories/{memory_id}/history", _history),
    ("POST", "/search", _search),
    ("POST", "/reset", _reset),
    ("GET", "/entities", _entities),
    ("DELETE", "/entities/{kind}/{name:rest}", _delete_entity),
)
"""Method, path and answer of each supported call."""


async def _delete_of(call: Mem0Request, ids: Mapping[str, str]) -> None:
    if _ANY in ids.values():
        raise RequestError(f"`{_ANY}` names nobody; POST /reset deletes the memories of everybody")
    await call.operations.delete_all(ids, None)


def _item(fields: Mapping[str, Any]) -> dict[str, Any]:
    """A memory as the server returns it: what it has no field for is in ``metadata``."""
    kept = {name: fields[name] for name in ("app_id", "categories") if fields[name] is not None}
    return {
        **{name: fields[name] for name in (*_FIELDS, "score") if name in fields},
        "hash": hashlib.md5(fields["memory"].encode(), usedforsecurity=False).hexdigest(),
        "metadata": {**fields["metadata"], **kept},
    }


def _refuse_expired(is_wanted: bool | None) -> None:
    if is_wanted:
        raise RequestError("show_expired: not available; Varve does not return expired memories")


async def _refuse_body(call: Mem0Request) -> None:
    if await call.request.body():
        raise RequestError("this call has no body; name what to delete in the path or in the query")


async def _body(call: Mem0Request, form: type[FormT]) -> FormT:
    _query(call, _Nothing)
    return _read(form, await read_json(call.request), place="body", strict=True)


def _query(call: Mem0Request, form: type[FormT]) -> FormT:
    """The query's parameters, each of which may occur once."""
    parameters = call.request.query_params.multi_items()
    repeated = [name for name, count in Counter(name for name, _ in parameters).items() if count > 1]
    if repeated:
        raise FormError([{"type": "repeated", "loc": ["query", name], "msg": "The parameter occurs more than once"} for name in repeated])
    return _read(form, dict(parameters), place="query", strict=False)


def _read(form: type[FormT], fields: Any, *, place: str, strict: bool) -> FormT:
    if not isinstance(fields, dict):
        raise FormError([{"type": "dict_type", "loc": [place], "msg": "Input should be a JSON object"}])
    try:
        return form.model_validate(fields, strict=strict)
    except ValidationError as error:
        raise FormError([{"type": each["type"], "loc": [place, *each["loc"]], "msg": each["msg"]} for each in error.errors()]) from error
