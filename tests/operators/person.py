"""A person with a job, as the entities stage grows one, and every step of it."""

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from memory.ids import step_id
from memory.records import Change, Contribution, HistoryEntry, Memory
from memory.schema import parse_schema
from operators.entities.apply import apply_contribution
from operators.entities.entity_state import EntityState, to_bytes
from operators.entities.history import HistoryReplay, KnownStep, Moment, beginning, in_order
from operators.entities.history_walk import HistoryWalk, SeenStep
from operators.entities.render import render

START = datetime(2024, 1, 1, tzinfo=UTC)
READ = START + timedelta(days=1000)
"""The time at which the first message is read: after everything that it mentions."""
KEY = "ann"

SCHEMA = parse_schema(
    {
        "Name": "people",
        "EventTypes": [{"EventType": "job", "Properties": [{"PropertyName": "name", "PropertyValueType": "string"}]}],
        "EntityTypes": [
            {
                "EntityType": "person",
                "Keys": ["user"],
                "Properties": [
                    {
                        "PropertyName": "job",
                        "PropertyValueType": "string",
                        "AggregateExpression": {"Op": "LATEST", "EventType": "job", "EventPropertyName": "name"},
                    },
                    {
                        "PropertyName": "jobs",
                        "PropertyValueType": "int64",
                        "AggregateExpression": {"Op": "COUNT", "EventType": "job"},
                    },
                    {"PropertyName": "notes", "PropertyValueType": "string"},
                ],
            }
        ],
    }
)
PERSON = SCHEMA.entity_types[0]


def day(number: float) -> datetime:
    """A day's time."""
    return START + timedelta(days=number)


def read_at(minute: float) -> datetime:
    """When a message was read."""
    return READ + timedelta(minutes=minute)


def job(name: str, event: str, on: float, op: Any = "apply") -> list[Change]:
    """The changes of a statement about a job: its name, and a count."""
    common = {"op": op, "source_id": event, "event_time": day(on), "message_ids": [f"m-{event}"] if op == "apply" else []}
    return [Change(property="job", value=name, **common), Change(property="jobs", **common)]


def note(text: str, patch: str, on: float, *, search: str | None = "") -> list[Change]:
    """A line of the notes."""
    return [Change(op="apply", property="notes", source_id=patch, value={"search": search, "replace": text}, event_time=day(on))]


@dataclass
class Person:
    """One entity, live, and the steps that are kept of it."""

    kept: int = 1000
    whole_every: int = 1000
    live: EntityState | None = None
    contributions: list[Contribution] = field(default_factory=list)
    steps: dict[str, HistoryEntry] = field(default_factory=dict)

    def read(
        self,
        *changes: Change,
        source: int = 0,
        cause: Literal["extraction", "correction", "expiry"] = "extraction",
        minute: int | None = None,
    ) -> None:
        """Takes a message's changes, a minute after the previous one."""
        number = len(self.contributions)
        contribution = Contribution(
            tenant="acme",
            user=KEY,
            entity_type="person",
            entity_key=KEY,
            source=f"extractions/{source}",
            position=number,
            changes=list(changes),
            time=max((each.event_time for each in changes), default=START),
            recorded_at=read_at(number if minute is None else minute),
            cause=cause,
        )
        applied = apply_contribution(self.live, contribution, PERSON)
        if applied.step:
            is_whole = self.live is not None and (applied.step - 1) % self.whole_every == 0
            step = HistoryEntry(
                id=step_id("person", contribution.source, str((applied.step - 1) % self.kept)),
                tenant="acme",
                entity="person",
                number=applied.step,
                contribution=contribution,
                before=to_bytes(self.live).decode() if is_whole and self.live is not None else None,
            )
            self.steps[step.id] = step
        self.live = applied.state
        self.contributions.append(contribution)

    def now(self) -> Memory | None:
        """The entity as it is live."""
        return rendered(self.live)

    def known(self) -> list[KnownStep]:
        """Its steps, in their order."""
        return in_order(self.steps.values())

    def at(self, moment: Moment) -> Memory | None:
        """The entity at a moment, from its steps."""
        start = beginning(self.known(), moment)
        assert start is not None
        replay = HistoryReplay(start, moment, lambda _: PERSON)
        for step in start.steps:
            replay.take(step)
        replay.finish(READ)
        return rendered(replay.state)

    def walk(self, moment: Moment = Moment()) -> list[SeenStep]:  # noqa: B008 - it never changes
        """Its history."""
        start = beginning(self.known(), Moment(), earliest=True)
        walk = HistoryWalk(start, moment, lambda _: PERSON)
        for each in self.known() if start is None else start.steps:
            walk.take(each)
        return walk.finish()

    def of_old(self, moment: Moment) -> Memory | None:
        """The entity as if nothing else had ever come than what belongs to a moment."""
        state: EntityState | None = None
        for contribution in self.contributions:
            assert contribution.recorded_at is not None
            within = moment.within(contribution)
            if within is not None and moment.knows(contribution.recorded_at):
                state = apply_contribution(state, within, PERSON).state
        return rendered(state)

    def fates(self) -> dict[tuple[str, str], str]:
        """The outcome of each property's newest statement, by property and event."""
        found: defaultdict[tuple[str, str], str] = defaultdict(str)
        for step in self.walk():
            for change in step.changes:
                if change.change.op == "apply":
                    found[change.change.property, change.change.source_id] = change.outcome
        return dict(found)


def rendered(state: EntityState | None) -> Memory | None:
    """A state as the memory that it makes; None for nothing."""
    return None if state is None or state.empty else render(state, PERSON, "acme", KEY)


def job_of(memory: Memory | None) -> Any:
    """The job in a memory; None: none."""
    return None if memory is None else memory.properties.get("job")
