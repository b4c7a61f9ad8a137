"""A re-extraction that is half done."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from control.reextraction import Estimate, Reextraction, RunBudget
from models.llm.budget import Amount, Spent
from streams.operations.reextraction.progress import Progress

START = datetime(2026, 1, 1, tzinfo=UTC)
RUN = Reextraction(
    generation="v2",
    tenants=("acme",),
    started_at=START,
    started_by="a test",
    budget=RunBudget(tokens=10_000, cost=2.0),
    estimate=Estimate(windows=100, messages=400, calls=100, prompt_tokens=8_000, completion_tokens=2_000, cost=1.0),
    first_position=50,
    running_since=START,
    position_then=50,
)

HALF = Progress(
    run=RUN,
    position=100,
    end=150,
    parked=0,
    workers=1,
    is_erasing=False,
    spent=Spent(Amount(4_000, 0.5), 50),
    at=START + timedelta(seconds=100),
)


def with_run(progress: Progress, **fields: object) -> Progress:
    return replace(progress, run=progress.run.model_copy(update=fields))
