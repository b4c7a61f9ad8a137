"""``/v1/blocks``: memory tools for agents: read, append, replace, insert, undo, and search with paging."""

import asyncio
import uuid
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, Self

import orjson
from fastapi import APIRouter, Depends, Path, Query, Request
from pydantic import Field, model_validator
from starlette.responses import Response

from api.auth.authentication import CorrectCaller
from api.auth.caller import Caller
from api.dependencies import AppDependencies, Dependencies, RequestTrace
from api.http.json_http import JsonResponse
from api.http.openapi import RequestModel, refusals
from api.http.request_body import body_schema, json_body
from api.limits.route_admission import AdmittedRecall
from api.problems import ProblemError
from api.reads.read_your_writes import PollBackoff
from api.response_models.blocks import BLOCK, BLOCKS, EDITED, FOUND
from api.routes.entities import newest_entity
from api.writes.blocks import Block, BlockEdits, EditRequest, block_of, blocks_of, conflict, verdict_of
from api.writes.erasures import require_no_erasure
from api.writes.idempotency import CorrectIdempotency, Idempotency
from memory.ids import correction_id
from memory.records import Memory
from memory.records.correction import Reason
from memory.records.message import Id
from memory.texts.text import shortened
from operators.agent.edits import MAX_EDIT, UNDO
from operators.agent.loop import MAX_FOUND
from operators.agent.tools import MAX_PAGES, MAX_QUERY, PAGE
from retrieval.nearest import NearestMemories
from runtime.tracing import SpanContext, record_headers
from stores.port import MemoryFilter, TenantScope

router = APIRouter(tags=["blocks"])

_WAIT_S: Final = 12.0
"""Time limit for the result of an edit; most of it is spent waiting."""
_PATH: Final = "/v1/blocks/{entity_type}/{property}"

_EntityType = Annotated[str, Path(min_length=1, max_length=256, description="The entity type of the block.")]
_Property = Annotated[str, Path(alias="property", min_length=1, max_length=256, description="The property of the block.")]
_User = Annotated[Id | None, Query(description="The user. Default: the user to whom the key is bound.")]
_Text = Annotated[str, Field(max_length=MAX_EDIT)]


class _OfUser(RequestModel):
    """A request about a user."""

    user: Id | None = None
    """The user. Default: the user to whom the key is bound."""


class BlockEditBody(_OfUser):
    """One call of a memory tool."""

    tool: Literal["append", "replace", "insert"]
    """`append` adds `text` at the end. `replace` replaces `old`, which must occur exactly once, by `text`; an empty `text` removes it.
    `insert` inserts `text` before the line with the number `line`."""
    text: _Text = ""
    """The new text, of up to 2,000 characters. Lines are separated by line breaks; blank lines are left out."""
    old: _Text | None = None
    """For `replace`: the text to replace, word for word."""
    line: int | None = Field(default=None, ge=1, le=10_000)
    """For `insert`: the number of the line; the first line is 1."""
    version: int | None = Field(default=None, ge=0)
    """The version of the block that the agent has read: the edit conflicts if the block has changed since. Default: any version."""
    reason: Reason = ""
    """The reason, for the log."""

    @model_validator(mode="after")
    def _has_its_arguments(self) -> Self:
        needed = {"append": (), "replace": ("old",), "insert": ("line",)}[self.tool]
        for name in ("old", "line"):
            if (getattr(self, name) is not None) != (name in needed):
                raise ValueError(f"{self.tool} {'needs' if name in needed else 'takes no'} {name}")
        if self.old is not None and not self.old.strip():
            raise ValueError("old must not be blank")
        if self.tool != "replace" and not self.text.strip():
            raise ValueError("text must not be blank")
        return self

    def arguments(self) -> dict[str, Any]:
        """The arguments of the tool that are set."""
        return self.model_dump(include={"text", "old", "line", "version"}, exclude_none=True)


class BlockUndoBody(_OfUser):
    """A request to undo an edit."""

    reason: Reason = ""
    """The reason, for the log."""


class BlockSearchBody(_OfUser):
    """A search in a user's events."""

    query: Annotated[str, Field(min_length=1, max_length=MAX_QUERY, pattern=r"\S")]
    page: int = Field(default=0, ge=0, lt=MAX_PAGES)
    """The page; the first page is 0."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Exchange:
    """A request for an edit, with its dependencies."""

    entity_type: str
    property_name: str
    request: Request
    caller: Caller
    dependencies: Dependencies
    trace: SpanContext
    idempotency: Idempotency

    async def carry_out(self, user: str | None, tool: str, arguments: dict[str, Any], *, reason: str) -> Response:
        """Sends an edit once, and waits until the block has its result."""
        dependencies, tenant = self.dependencies, self.caller.tenant
        block = block_of(self.caller, dependencies.tenants, user, entity_type=self.entity_type, property_name=self.property_name)
        size, name = len(await self.request.body()), self.idempotency.request_name

        async def act() -> Response:
            quota = await dependencies.quotas.admit_messages(tenant, count=1, size=size, adds_memories=False)
            require_no_erasure(dependencies.tenants, tenant.id, block.user, f"block {self.entity_type}/{self.property_name}")
            now = dependencies.clock.now()
            until = asyncio.get_running_loop().time() + _WAIT_S
            memory, degraded = await self._read(block, until)
            edit = EditRequest(
                id=str(uuid.uuid4()) if name is None else correction_id(tenant.id, block.id, name),
                caller=self.caller,
                block=block,
                tool=tool,
                arguments=arguments,
                reason=reason,
                time=now,
                newest=now if memory is None else memory.event_time,
            )
            if not degraded:
                _refuse_the_impossible(edit, memory)
            edits = BlockEdits(producer=dependencies.producer, settings=dependencies.settings)
            position = await edits.send(edit, record_headers(self.trace, now))
            found, memory = await self._result(edit, until)
            status = "pending" if found is None else found.status
            fields = {"id": edit.id, "status": status, "position": position, "block": block.fields(memory)}
            return JsonResponse(fields, status_code=202 if found is None else 200, headers=quota)

        return await self.idempotency.once(act, kept=_without_block)

    async def _result(self, edit: EditRequest, until: float) -> tuple[Any, Memory | None]:
        """Polls for the result of an edit. Each poll is admitted as its own read, so that a waiting request blocks no other."""
        patience = PollBackoff(until)
        while True:
            memory, _ = await self._read(edit.block, until)
            found = verdict_of(edit, memory)
            if found is not None or patience.is_over:
                return found, memory
            await patience.pause(self.request)

    async def _read(self, block: Block, until: float) -> tuple[Memory | None, list[str]]:
        async with self.dependencies.admission.turn(self.request, self.caller.tenant, until=until):
            return await newest_entity(self.dependencies, self.caller, block.id)


async def _exchange(
    entity_type: _EntityType,
    property_name: _Property,
    request: Request,
    caller: CorrectCaller,
    dependencies: AppDependencies,
    trace: RequestTrace,
    idempotency: CorrectIdempotency,
) -> _Exchange:
    return _Exchange(
        entity_type=entity_type,
        property_name=property_name,
        request=request,
        caller=caller,
        dependencies=dependencies,
        trace=trace,
        idempotency=idempotency,
    )


_Asked = Annotated[_Exchange, Depends(_exchange)]


@router.get("/v1/blocks", responses=BLOCKS)
async def list_blocks(request: Request, admitted: AdmittedRecall, dependencies: AppDependencies, user: _User = None) -> Response:
    """A user's blocks in the order of the schema: `{blocks}`. Empty if the schema has no property with the operator AGENT."""
    caller, quota = admitted
    blocks = list(blocks_of(caller, dependencies.tenants, user))
    async with dependencies.admission.turn(request, caller.tenant, results=len(blocks)):
        read = await asyncio.gather(*(newest_entity(dependencies, caller, each.id) for each in blocks))
    dependencies.read_audit.note(caller, "blocks", (memory for memory, _ in read))
    shown = [{**each.fields(memory), "degraded": degraded} for each, (memory, degraded) in zip(blocks, read, strict=True)]
    return JsonResponse({"blocks": shown}, headers=quota)


@router.post("/v1/blocks/search", openapi_extra=body_schema(BlockSearchBody), responses=FOUND)
async def search_memories(
    request: Request,
    admitted: AdmittedRecall,
    body: Annotated[BlockSearchBody, Depends(json_body(BlockSearchBody))],
    dependencies: AppDependencies,
) -> Response:
    """The user's events nearest to a text, five to a page: `{page, results, more}`. Counts as one recall.

    This is the search of the model that maintains the blocks. To answer a question, use `POST /v1/recall`.
    """
    caller, quota = admitted
    user = caller.user_of(body.user)
    if user is None:
        raise ProblemError(422, "invalid", "user: name the user; the API key is bound to none")
    nearest = NearestMemories(store=dependencies.store, embedder=dependencies.embedder, clock=dependencies.clock)
    searched = MemoryFilter(scope=TenantScope(caller.tenant.id, user), kinds=("event",), generation=caller.tenant.generation)
    most = PAGE * (body.page + 1)
    async with dependencies.admission.turn(request, caller.tenant, results=most + 1):
        found = await nearest.find(searched, text=body.query.strip(), vector=None, limit=most + 1)
    results = [
        {
            "id": each.memory.id,
            "day": each.memory.event_time.date().isoformat(),
            "says": shortened(each.memory.content, MAX_FOUND),
            "score": round(each.score, 6),
            "evidence": each.memory.message_ids,
        }
        for each in found[PAGE * body.page : most]
    ]
    dependencies.read_audit.note(caller, "block_search", (each.memory for each in found[PAGE * body.page : most]))
    has_more = len(found) > most and body.page + 1 < MAX_PAGES
    return JsonResponse({"page": body.page, "results": results, "more": has_more}, headers=quota)


@router.get(_PATH, responses=BLOCK | refusals(404))
async def get_block(
    entity_type: _EntityType,
    property_name: _Property,
    request: Request,
    admitted: AdmittedRecall,
    dependencies: AppDependencies,
    user: _User = None,
) -> Response:
    """One block: its text, version, limit, and newest edits with their authors, times and results.

    It has the state of the entities stage, which may be newer than the index. `degraded` names unavailable sources.
    """
    caller, quota = admitted
    block = block_of(caller, dependencies.tenants, user, entity_type=entity_type, property_name=property_name)
    async with dependencies.admission.turn(request, caller.tenant):
        memory, degraded = await newest_entity(dependencies, caller, block.id)
    dependencies.read_audit.note(caller, "blocks", [memory])
    return JsonResponse({**block.fields(memory), "degraded": degraded}, headers=quota)


@router.post(f"{_PATH}/edits", openapi_extra=body_schema(BlockEditBody), responses=EDITED | refusals(404, 409))
async def edit_block(asked: _Asked, body: Annotated[BlockEditBody, Depends(json_body(BlockEditBody))]) -> Response:
    """Edits a block with a memory tool: `{id, status, position, block}`.

    The edit is in the log, and the block names its author and time. 409 `edit-conflict` with the present `block` if the edit does not fit
    the block when its turn comes: another agent replaced the text, the version has changed, or the block is full; it then changes nothing.
    202 with `pending` if the stages have not applied it within seconds: they apply it later, and the block's `edits` have its result.
    """
    return await asked.carry_out(body.user, body.tool, body.arguments(), reason=body.reason)


@router.post(
    f"{_PATH}/edits/{{edit}}/undo", openapi_extra=body_schema(BlockUndoBody, required=False), responses=EDITED | refusals(404, 409)
)
async def undo_block_edit(
    asked: _Asked,
    edit: Annotated[str, Path(min_length=1, max_length=64, description="The id of the edit.")],
    body: Annotated[BlockUndoBody, Depends(json_body(BlockUndoBody, default=BlockUndoBody()))],
) -> Response:
    """Undoes one of a block's newest edits: `{id, status, position, block}`.

    409 `edit-conflict` if the text of the edit is no longer in the block as the edit left it. 202 as for an edit.
    """
    return await asked.carry_out(body.user, UNDO, {"edit": edit}, reason=body.reason)


def _without_block(body: bytes) -> bytes:
    """The response that is kept for repeated requests: without the user's text."""
    return orjson.dumps({name: each for name, each in orjson.loads(body).items() if name != "block"})


def _refuse_the_impossible(edit: EditRequest, memory: Memory | None) -> None:
    """Refuses an edit that no later state of the block can take, before it is in the log.

    Raises:
        ProblemError: 404 or 409.
    """
    block = edit.block
    if edit.tool == "replace" and block.edit(memory, edit.id) is None and not block.text(memory):
        raise conflict(block, memory, "`old` is not in the block, which is empty")
    if edit.tool != UNDO:
        return
    target = block.edit(memory, edit.arguments["edit"])
    if target is None:
        raise ProblemError(404, "not-found", f"the edit {edit.arguments['edit']} is not among the newest edits of the block")
    if target.status == "undone" and target.undo != edit.id:
        raise conflict(block, memory, f"the edit {target.id} is undone already")
    if not target.undoable and target.status != "undone":
        raise conflict(block, memory, f"the edit {target.id} cannot be undone: it is a conflict or too old")
