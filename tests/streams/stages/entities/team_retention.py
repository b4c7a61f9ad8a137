"""Remarks of a day, and a run of retention over them."""

from datetime import datetime, timedelta

from memory.headers import KIND, ORIGIN, RETENTION
from memory.keys import encode_key, marked_key
from memory.records import Extraction, RetentionLimits
from memory.retention import without_old_results
from tests.streams.stages.entities.team import START, TENANT, Remark, Team, extraction

LIMITS = {"*": START + timedelta(days=15)}


async def said(team: Team, user: str, window: int, day: int, *remarks: Remark) -> None:
    """A window of a day is extracted."""
    time = START + timedelta(days=day)
    what = extraction(user, window, remarks)
    events = [each.model_copy(update={"said_at": time, "event_time": time}) for each in what.events]
    what = what.model_copy(update={"events": events, "window_end": time})
    team._append("extractions", encode_key(TENANT, user) + f"#{window}".encode(), what.to_json())
    await team.settle()


async def retained(team: Team, limits: dict[str, datetime] = LIMITS) -> None:
    """Carries retention out, as a run does."""
    before = [each for each in team.log["extractions"] if not any(name == KIND for name, _ in each.headers)]
    sent = RetentionLimits(tenant=TENANT, limits=limits, time=START)
    team._append("extractions", marked_key(encode_key(TENANT), "retention"), sent.to_json(), ((KIND, RETENTION),))
    for record in before:
        what = Extraction.from_json(record.value or b"")
        after = without_old_results(what, limits)
        if after is not what:
            origin = (ORIGIN, f"varve.extractions/0/{record.offset}".encode())
            team._append("extractions", record.key or b"", after.model_copy(update={"retained": limits}).to_json(), (origin,))
    await team.settle()
