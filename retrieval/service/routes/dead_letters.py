"""``/v1/admin/dead-letters``: what could not be processed, for operators only."""

from typing import Annotated, Any, Final

from fastapi import APIRouter, Query
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field
from starlette.responses import Response

from memory.positions import LogPosition
from memory.topics import DEAD_LETTERS
from retrieval.service.answers import JsonAnswer
from retrieval.service.parts import Parts, PartsOfApp
from retrieval.service.problems import Problem
from retrieval.service.tenancy import Operator
from runtime.dead_letters import DeadLetterBox, LetterSelection, LetterState

router = APIRouter(tags=["operators"], dependencies=[Operator])

_PATH: Final = "/v1/admin/dead-letters"
_MOST: Final = 1000


class Meant(BaseModel):
    """Which dead letters are meant: those that meet all that is given."""

    model_config = ConfigDict(extra="forbid")

    tenant: str | None = None
    stage: str | None = None
    reason: str | None = None
    since: AwareDatetime | None = None
    """Given up at this moment or later."""
    until: AwareDatetime | None = None
    """Given up before this moment."""
    at: list[Annotated[str, Field(pattern=r"^\d+/\d+$")]] = Field(default_factory=list)
    """Only the letters at these places, ``partition/offset``."""
    state: tuple[LetterState, ...] = Field(default=("open",), min_length=1)

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


class Ordered(Meant):
    """Which dead letters shall be dealt with."""

    all: bool = False
    """All of them: needed where nothing else narrows the choice."""

    def narrowed(self, topic: str) -> LetterSelection:
        """The selection, which must not be everything by oversight.

        Raises:
            Problem: If it is.
        """
        selection = self.selection(topic)
        if not (selection.narrows or self.all):
            raise Problem(422, "too-much", 'name a tenant, stage, reason, time or place, or say `"all": true`')
        return selection


class _Listed(Meant):
    limit: int = Field(default=100, ge=1, le=_MOST)


@router.get(_PATH)
async def list_letters(parts: PartsOfApp, meant: Annotated[_Listed, Query()]) -> Response:
    """The letters that are meant, oldest first, without their content: ``{letters, total}``."""
    letters = await _box(parts).letters(meant.selection(_topic(parts)))
    return JsonAnswer({"letters": [letter.as_json() for letter in letters[: meant.limit]], "total": len(letters)})


@router.get(_PATH + "/{partition}/{offset}")
async def show_letter(partition: int, offset: int, parts: PartsOfApp) -> Response:
    """One letter with its content and headers; 404 for one that is not there or was purged."""
    return JsonAnswer((await _box(parts).open(LogPosition(_topic(parts), partition, offset))).as_json())


@router.post(_PATH + "/redrive")
async def redrive_letters(order: Ordered, parts: PartsOfApp) -> Response:
    """Sends letters to their stages again, harmlessly however often: ``{redriven, superseded, refused}``."""
    result = await _box(parts).redrive(order.narrowed(_topic(parts)))
    answer: dict[str, Any] = {"redriven": result.redriven, "superseded": result.superseded, "refused": result.refused}
    return JsonAnswer(answer)


@router.post(_PATH + "/purge")
async def purge_letters(order: Ordered, parts: PartsOfApp) -> Response:
    """Puts letters away for good: ``{purged}``."""
    return JsonAnswer({"purged": await _box(parts).purge(order.narrowed(_topic(parts)))})


def _topic(parts: Parts) -> str:
    return parts.settings.topic(DEAD_LETTERS.name)


def _box(parts: Parts) -> DeadLetterBox:
    return DeadLetterBox(settings=parts.settings, producer=parts.producer, clock=parts.clock)
