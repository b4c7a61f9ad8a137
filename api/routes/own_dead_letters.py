"""``/v1/dead-letters``: a tenant's own records that could not be processed, for its keys that may operate."""

from typing import Annotated, Final

from fastapi import APIRouter, Depends, Query, Request
from pydantic import Field
from starlette.responses import Response

from api import dead_letter_access as letters
from api.admission import TOPIC_RESULTS
from api.authentication import Caller, OperateCaller
from api.dead_letter_access import MAX_LIMIT, LetterCommand, LetterFilter, Offset, Partition
from api.dependencies import AppDependencies
from api.idempotency import OperateIdempotency
from api.openapi import refusals
from api.request_body import body_schema, json_body
from api.responses import LETTER, LETTERS, PURGED, REDRIVEN

router = APIRouter(tags=["operate"])

_PATH: Final = "/v1/dead-letters"


class _Query(LetterFilter):
    limit: int = Field(default=100, ge=1, le=MAX_LIMIT)


def _of_every_user(caller: OperateCaller) -> Caller:
    # A letter is raw bytes: its user cannot be determined.
    caller.require_every_user()
    return caller


_Caller = Annotated[Caller, Depends(_of_every_user)]
_Command = Annotated[LetterCommand, Depends(json_body(LetterCommand))]
_COMMAND: Final = body_schema(LetterCommand)


@router.get(_PATH, responses=LETTERS)
async def list_own_dead_letters(
    request: Request, caller: _Caller, dependencies: AppDependencies, query: Annotated[_Query, Query()]
) -> Response:
    """The tenant's selected letters, oldest first, without their content: ``{letters, total}``."""
    selection = query.selection(dependencies, tenant=caller.tenant.id)
    async with dependencies.admission.turn(request, caller.tenant, results=TOPIC_RESULTS):
        return await letters.listed(dependencies, selection, limit=query.limit)


@router.get(_PATH + "/{partition}/{offset}", responses=LETTER | refusals(404))
async def get_own_dead_letter(
    partition: Partition, offset: Offset, request: Request, caller: _Caller, dependencies: AppDependencies
) -> Response:
    """One of the tenant's letters with its content and headers; 404 for one that does not exist, was purged, or is another's."""
    async with dependencies.admission.turn(request, caller.tenant, results=TOPIC_RESULTS):
        return await letters.shown(dependencies, partition, offset, tenant=caller.tenant.id)


@router.post(_PATH + "/redrive", openapi_extra=_COMMAND, responses=REDRIVEN | refusals(409))
async def redrive_own_dead_letters(
    request: Request, caller: _Caller, command: _Command, dependencies: AppDependencies, idempotency: OperateIdempotency
) -> Response:
    """Sends the tenant's letters to their stages again, idempotently: ``{redriven, superseded, refused}``."""
    command.require_meant()
    selection = command.selection(dependencies, tenant=caller.tenant.id)
    async with dependencies.admission.turn(request, caller.tenant, results=TOPIC_RESULTS):
        return await idempotency.once(lambda: letters.redriven(dependencies, selection))


@router.post(_PATH + "/purge", openapi_extra=_COMMAND, responses=PURGED | refusals(409))
async def purge_own_dead_letters(
    request: Request, caller: _Caller, command: _Command, dependencies: AppDependencies, idempotency: OperateIdempotency
) -> Response:
    """Deletes letters of the tenant permanently: ``{purged}``."""
    command.require_meant()
    selection = command.selection(dependencies, tenant=caller.tenant.id)
    async with dependencies.admission.turn(request, caller.tenant, results=TOPIC_RESULTS):
        return await idempotency.once(lambda: letters.purged(dependencies, selection))
