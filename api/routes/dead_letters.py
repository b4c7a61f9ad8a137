"""``/v1/admin/dead-letters``: records of all tenants that could not be processed, for operators."""

from typing import Annotated, Final

from fastapi import APIRouter, Depends, Query, Request
from pydantic import Field
from starlette.responses import Response

from api import dead_letter_access as letters
from api.admission import TOPIC_RESULTS
from api.authentication import require_operator
from api.dead_letter_access import MAX_LIMIT, LetterCommand, LetterFilter, Offset, Partition
from api.dependencies import AppDependencies
from api.idempotency import OperatorsIdempotency
from api.openapi import refusals
from api.request_body import body_schema, json_body
from api.responses import LETTER, LETTERS, PURGED, REDRIVEN
from api.route_admission import TOPICS_TURN
from memory.records.message import Name

router = APIRouter(tags=["operators"])

_PATH: Final = "/v1/admin/dead-letters"


class _Query(LetterFilter):
    tenant: Name | None = None
    limit: int = Field(default=100, ge=1, le=MAX_LIMIT)


class AnyLettersCommand(LetterCommand):
    """Selects the dead letters of any tenant that a command changes."""

    tenant: Name | None = None

    @property
    def narrows(self) -> bool:
        """Whether there is any condition except the state."""
        return self.tenant is not None or super().narrows


_Command = Annotated[AnyLettersCommand, Depends(json_body(AnyLettersCommand))]
_COMMAND: Final = body_schema(AnyLettersCommand)


@router.get(_PATH, dependencies=[require_operator("viewer"), TOPICS_TURN], responses=LETTERS)
async def list_dead_letters(dependencies: AppDependencies, query: Annotated[_Query, Query()]) -> Response:
    """The selected letters, oldest first, without their content: ``{letters, total}``."""
    return await letters.listed(dependencies, query.selection(dependencies, tenant=query.tenant), limit=query.limit)


@router.get(_PATH + "/{partition}/{offset}", dependencies=[require_operator("viewer"), TOPICS_TURN], responses=LETTER | refusals(404))
async def get_dead_letter(partition: Partition, offset: Offset, dependencies: AppDependencies) -> Response:
    """One letter with its content and headers; 404 for one that does not exist or was purged."""
    return await letters.shown(dependencies, partition, offset, tenant=None)


@router.post(_PATH + "/redrive", dependencies=[require_operator("operator")], openapi_extra=_COMMAND, responses=REDRIVEN | refusals(409))
async def redrive_dead_letters(
    request: Request, command: _Command, dependencies: AppDependencies, idempotency: OperatorsIdempotency
) -> Response:
    """Sends letters to their stages again, idempotently: ``{redriven, superseded, refused}``."""
    command.require_meant()
    selection = command.selection(dependencies, tenant=command.tenant)
    async with dependencies.admission.admin_admission(request, results=TOPIC_RESULTS):
        return await idempotency.once(lambda: letters.redriven(dependencies, selection))


@router.post(_PATH + "/purge", dependencies=[require_operator("operator")], openapi_extra=_COMMAND, responses=PURGED | refusals(409))
async def purge_dead_letters(
    request: Request, command: _Command, dependencies: AppDependencies, idempotency: OperatorsIdempotency
) -> Response:
    """Deletes letters permanently: ``{purged}``."""
    command.require_meant()
    selection = command.selection(dependencies, tenant=command.tenant)
    async with dependencies.admission.admin_admission(request, results=TOPIC_RESULTS):
        return await idempotency.once(lambda: letters.purged(dependencies, selection))
