"""``/v1/admin/dead-letters``: records of all tenants that could not be processed, for operators."""

from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Path, Query, Request
from pydantic import Field
from starlette.responses import Response

from api.auth.authentication import require_operator
from api.dependencies import AppDependencies, Dependencies
from api.http.json_http import JsonResponse
from api.http.openapi import RequestModel, refusals
from api.http.request_body import body_schema, json_body
from api.limits.admission import TOPIC_RESULTS
from api.limits.route_admission import TOPICS_TURN
from api.problems import ProblemError
from api.response_models.messages import DEAD_LETTER_CONTENT, DEAD_LETTER_LIST, PURGED, REDRIVEN
from api.writes.idempotency import OperatorsIdempotency
from memory.positions import LogPosition
from memory.records.limits import Time
from memory.records.message import Name
from memory.topics import DEAD_LETTERS
from runtime.dead_letters import DeadLetterBox, DeadLetterSelection, DeadLetterState

MAX_LIMIT: Final = 1000
_MAX_STATES: Final = 16

Partition = Annotated[int, Path(ge=0, le=2**31 - 1)]
Offset = Annotated[int, Path(ge=0, le=2**63 - 1)]

router = APIRouter(tags=["operators"])

_PATH: Final = "/v1/admin/dead-letters"


class DeadLetterFilter(RequestModel):
    """Selects the dead letters that meet all given conditions."""

    stage: Name | None = None
    reason: Name | None = None
    since: Time | None = None
    """Written at this time or later."""
    until: Time | None = None
    """Written before this time."""
    at: list[Annotated[str, Field(pattern=r"^[0-9]{1,9}/[0-9]{1,18}$")]] = Field(default_factory=list, max_length=MAX_LIMIT)
    """Only the dead letters at these positions, ``partition/offset``."""
    state: tuple[DeadLetterState, ...] = Field(default=("open",), min_length=1, max_length=_MAX_STATES)

    @property
    def narrows(self) -> bool:
        """Whether there is any condition except the state."""
        return bool(self.at) or any(each is not None for each in (self.stage, self.reason, self.since, self.until))

    def selection(self, dependencies: Dependencies, *, tenant: str | None) -> DeadLetterSelection:
        """The selection for :class:`runtime.dead_letters.DeadLetterBox`.

        Args:
            dependencies: For the topic of the dead letters.
            tenant: The tenant of the dead letters. None: all tenants.
        """
        topic = dependencies.settings.topic(DEAD_LETTERS.name)
        return DeadLetterSelection(
            tenant=tenant,
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
    """Required to select all dead letters without any other condition."""

    def require_meant(self) -> None:
        """Rejects a selection of all dead letters that was not explicit.

        Raises:
            ProblemError: If there is neither a condition nor ``all``.
        """
        if not (self.narrows or self.all):
            raise ProblemError(422, "too-much", 'select dead letters by stage, reason, time or places, or send `"all": true`')


async def listed(dependencies: Dependencies, selection: DeadLetterSelection, *, limit: int) -> Response:
    """The selected dead letters without their content: ``{dead_letters, total}``.

    Args:
        dependencies: For the topic of the dead letters.
        selection: The conditions.
        limit: Maximum number of listed dead letters; the total counts all.
    """
    letters = await _box(dependencies).letters(selection)
    return JsonResponse({"dead_letters": [letter.as_json() for letter in letters[:limit]], "total": len(letters)})


async def shown(dependencies: Dependencies, partition: int, offset: int, *, tenant: str | None) -> Response:
    """One dead letter with its content.

    Args:
        dependencies: For the topic of the dead letters.
        partition: The dead letter's partition.
        offset: The dead letter's offset.
        tenant: The tenant that may read it. None: any.

    Raises:
        DeadLetterMissingError: If there is no dead letter at this position, or it was purged, or belongs to another tenant.
    """
    position = LogPosition(dependencies.settings.topic(DEAD_LETTERS.name), partition, offset)
    return JsonResponse((await _box(dependencies).open(position, tenant=tenant)).as_json())


async def redriven(dependencies: Dependencies, selection: DeadLetterSelection) -> Response:
    """Sends dead letters to their stages again: ``{redriven, superseded, refused}``."""
    result = await _box(dependencies).redrive(selection)
    content: dict[str, Any] = {"redriven": result.redriven, "superseded": result.superseded, "refused": result.refused}
    return JsonResponse(content)


async def purged(dependencies: Dependencies, selection: DeadLetterSelection) -> Response:
    """Deletes dead letters permanently: ``{purged}``."""
    return JsonResponse({"purged": await _box(dependencies).purge(selection)})


def _box(dependencies: Dependencies) -> DeadLetterBox:
    return DeadLetterBox(settings=dependencies.settings, producer=dependencies.producer, clock=dependencies.clock)


class _Query(DeadLetterFilter):
    tenant: Name | None = None
    limit: int = Field(default=100, ge=1, le=MAX_LIMIT)


class AnyDeadLettersCommand(DeadLetterCommand):
    """Selects the dead letters of any tenant that a command changes."""

    tenant: Name | None = None

    @property
    def narrows(self) -> bool:
        """Whether there is any condition except the state."""
        return self.tenant is not None or super().narrows


_Command = Annotated[AnyDeadLettersCommand, Depends(json_body(AnyDeadLettersCommand))]
_COMMAND: Final = body_schema(AnyDeadLettersCommand)


@router.get(_PATH, dependencies=[require_operator("viewer"), TOPICS_TURN], responses=DEAD_LETTER_LIST)
async def list_dead_letters(dependencies: AppDependencies, query: Annotated[_Query, Query()]) -> Response:
    """The selected dead letters, oldest first, without their content: ``{dead_letters, total}``."""
    return await listed(dependencies, query.selection(dependencies, tenant=query.tenant), limit=query.limit)


@router.get(
    _PATH + "/{partition}/{offset}", dependencies=[require_operator("viewer"), TOPICS_TURN], responses=DEAD_LETTER_CONTENT | refusals(404)
)
async def get_dead_letter(partition: Partition, offset: Offset, dependencies: AppDependencies) -> Response:
    """One dead letter with its content and headers; 404 for one that does not exist or was purged."""
    return await shown(dependencies, partition, offset, tenant=None)


@router.post(_PATH + "/redrive", dependencies=[require_operator("operator")], openapi_extra=_COMMAND, responses=REDRIVEN | refusals(409))
async def redrive_dead_letters(
    request: Request, command: _Command, dependencies: AppDependencies, idempotency: OperatorsIdempotency
) -> Response:
    """Sends dead letters to their stages again, idempotently: ``{redriven, superseded, refused}``."""
    command.require_meant()
    selection = command.selection(dependencies, tenant=command.tenant)
    async with dependencies.admission.admin_admission(request, results=TOPIC_RESULTS):
        return await idempotency.once(lambda: redriven(dependencies, selection))


@router.post(_PATH + "/purge", dependencies=[require_operator("operator")], openapi_extra=_COMMAND, responses=PURGED | refusals(409))
async def purge_dead_letters(
    request: Request, command: _Command, dependencies: AppDependencies, idempotency: OperatorsIdempotency
) -> Response:
    """Deletes dead letters permanently: ``{purged}``."""
    command.require_meant()
    selection = command.selection(dependencies, tenant=command.tenant)
    async with dependencies.admission.admin_admission(request, results=TOPIC_RESULTS):
        return await idempotency.once(lambda: purged(dependencies, selection))
