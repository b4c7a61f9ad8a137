"""Parts of a worker that its driver and its partition tasks share."""

from collections.abc import Callable
from dataclasses import dataclass, field

from runtime.background import BackgroundWorks
from runtime.clocks import Clock, SteadyClock
from streams.engine.failures.crash_journal import CrashJournal
from streams.engine.failures.dead_letters import DeadLetterWriter
from streams.engine.failures.dependency_health import DependencyHealth
from streams.engine.faust.flow_control import FlowControl
from streams.engine.stage_metrics import StageMetrics
from streams.engine.tasks.batch_interval import BatchLimits
from streams.engine.tasks.checkpointer import Writer


@dataclass(slots=True, kw_only=True)
class TaskContext:
    """Parts of a worker that its partition tasks need to run."""

    metrics: StageMetrics
    limits: BatchLimits
    dependencies: DependencyHealth
    dead_letters: DeadLetterWriter
    journal: CrashJournal
    """The records that the worker's handlers process, and the suspects."""
    flow_control: FlowControl
    may_write: Callable[[int], bool]
    """Whether the worker still owns its partitions under the given generation."""
    clock: Clock = field(default_factory=SteadyClock)
    """Clock for measuring silence; all handlers of the worker get its time."""

    @property
    def stage(self) -> str:
        """The stage's name."""
        return self.metrics.stage


@dataclass(frozen=True, slots=True, kw_only=True)
class StageContext:
    """Parts of a worker that a stage needs to build its driver."""

    task: TaskContext
    new_writer: Callable[[int], Writer]
    """Creates the writer of a partition."""
    background: BackgroundWorks = field(default_factory=BackgroundWorks)
    """Work that runs in the background. A driver adds its own before the worker starts."""
