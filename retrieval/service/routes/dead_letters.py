"""``/v1/admin/dead-letters``: records that could not be processed, for operators only."""

from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Path, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from memory.positions import LogPosition
from memory.records.limits import Time
from memory.records.message import Name
from memory.topics import DEAD_LETTERS
from retrieval.service.answers import LETTER, LETTERS, PURGED, REDRIVEN
from retrieval.service.authentication import require_operator
from retrieval.service.dependencies import AppDependencies, Dependencies
from retrieval.service.idempotency import OperatorsIdempotency
from retrieval.service.json_http import JsonResponse
from retrieval.service.openapi import refusals
from retrieval.service.problems import ProblemError
from retrieval.service.request_body import body_schema, json_body
from runtime.dead_letters import DeadLetterBox, LetterSelection, LetterState

router = APIRouter(tags=["operators"])

_PATH: Final = "/v1/admin/dead-letters"
_MAX_LIMIT: Final = 1000
_MAX_STATES: Final = 16

_Partition = Annotated[int, Path(ge=0, le=2**31 - 1)]
_Offset = Annotated[int, Path(ge=0, le=2**63 - 1)]


class DeadLetterFilter(BaseModel):
    """Selects the dead letters that meet all given conditions."""

    model_config = ConfigDict(extra="forbid")

    tenant: Name | None = None
    stage: Name | None = None
    reason: Name | None = None
    since: Time | None = None
    """Given up at this moment or later."""
    until: Time | None = None
    """Given up before this moment."""
    at: list[Annotated[str, Field(pattern=r"^[0-9]{1,9}/[0-9]{1,18}$")]] = Field(default_factory=list, max_length=_MAX_LIMIT)
    """Only the letters at these positions, ``partition/offset``."""
    state: tuple[LetterState, ...] = Field(default=("open",), min_length=1, max_length=_MAX_STATES)

    def selection(self, topic: str) -> LetterSelection:
        """The same for :class:`runtime.dead_letters.DeadLetterBox`; ``topic`` is that of the dead letters."""
        return LetterSelection(
            tenant=self.tenant,
            stage=self.stage,
            reason=self.reason,
            since=self.since,
            until=self.until,
            positions=frozenset(LogPosition.parse_within(topic, each) for each in self.at),
            states=frozenset(self.state),
        )


class DeadLetterCommand(DeadLetterFilter):
    """Selects the dead letters that a command changes."""

    all: bool = False
    """Needed to select all letters, where no other condition is given."""

    def checked_selection(self, topic: str) -> LetterSelection:
        """The selection of :meth:`selection`, unless it is everything by oversight.

        Raises:
            ProblemError: If no condition is given, and not ``all`` either.
        """
        selection = self.selection(topic)
        if not (selection.narrows or self.all):
            raise ProblemError(422, "too-much", 'name a tenant, stage, reason, time or place, or say `"all": true`')
        return selection


_Command = Annotated[DeadLetterCommand, Depends(json_body(DeadLetterCommand))]


class _DeadLetterQuery(DeadLetterFilter):
    limit: int = Field(default=100, ge=1, le=_MAX_LIMIT)


@router.get(_PATH, dependencies=[require_operator("viewer")], responses=LETTERS)
async def list_letters(dependencies: AppDependencies, query: Annotated[_DeadLetterQuery, Query()]) -> Response:
    """The selected letters, oldest first, without their content: ``{letters, total}``."""
    letters = await _box(dependencies).letters(query.selection(_topic(dependencies)))
    return JsonResponse({"letters": [letter.as_json() for letter in letters[: query.limit]], "total": len(letters)})


@router.get(_PATH + "/{partition}/{offset}", dependencies=[require_operator("viewer")], responses=LETTER | refusals(404))
async def show_letter(partition: _Partition, offset: _Offset, dependencies: AppDependencies) -> Response:
    """One letter with its content and headers; 404 for one that does not exist or was purged."""
    return JsonResponse((await _box(dependencies).open(LogPosition(_topic(dependencies), partition, offset))).as_json())


@router.post(
    _PATH + "/redrive",
    dependencies=[require_operator("operator")],
    openapi_extra=body_schema(DeadLetterCommand),
    responses=REDRIVEN | refusals(409),
)
async def redrive_letters(command: _Command, dependencies: AppDependencies, idempotency: OperatorsIdempotency) -> Response:
    """Sends letters to their stages again, idempotently: ``{redriven, superseded, refused}``."""
    selection = command.checked_selection(_topic(dependencies))

    async def redrive() -> Response:
        result = await _box(dependencies).redrive(selection)
        content: dict[str, Any] = {"redriven": result.redriven, "superseded": result.superseded, "refused": result.refused}
        return JsonResponse(content)

    return await idempotency.once(redrive)


@router.post(
    _PATH + "/purge",
    dependencies=[require_operator("operator")],
    openapi_extra=body_schema(DeadLetterCommand),
    responses=PURGED | refusals(409),
)
async def purge_letters(command: _Command, dependencies: AppDependencies, idempotency: OperatorsIdempotency) -> Response:
    """Removes letters for good: ``{purged}``."""
    selection = command.checked_selection(_topic(dependencies))

    async def purge() -> Response:
        return JsonResponse({"purged": await _box(dependencies).purge(selection)})

    return await idempotency.once(purge)


def _topic(dependencies: Dependencies) -> str:
    return dependencies.settings.topic(DEAD_LETTERS.name)


def _box(dependencies: Dependencies) -> DeadLetterBox:
    return DeadLetterBox(settings=dependencies.settings, producer=dependencies.producer, clock=dependencies.clock)
