"""Runs one stage in this process until a signal stops it."""

import asyncio
import importlib
from contextlib import AsyncExitStack
from types import ModuleType
from typing import TYPE_CHECKING

import uvloop

from control.generations.reading import generation_name
from control.tenants import follow_tenants
from runtime.garbage import collect_seldom, loading
from runtime.interruption import run_until_signal
from runtime.logs import configure_logging
from runtime.metrics import metrics
from runtime.settings import Settings
from runtime.tracing import exporting_spans
from streams.engine.build import DriverFactory
from streams.engine.worker import Worker
from streams.stages.catalog import stage_named

if TYPE_CHECKING:
    from streams.stages.extraction.metering import Metering


def run_stage(
    name: str,
    settings: Settings,
    *,
    generation: str | None = None,
    only: frozenset[str] | None = None,
) -> None:
    """Runs a stage. On SIGTERM or SIGINT it finishes running work, commits, and leaves its group.

    Args:
        name: One of :data:`streams.stages.catalog.STAGES`.
        settings: The settings in force.
        generation: For ``extraction``: create this generation, in a separate consumer group next to the live workers.
        only: With a generation: create it for these tenants. None: for all tenants that have it.

    Raises:
        StreamError: The stage does not exist, or it failed.
    """
    stage_named(name)  # fails before anything is set up
    configure_logging(settings.log, stage=name)
    load_stage(name)
    with exporting_spans(settings.tracing, process=name):
        run_until_signal(serve_stage(name, settings, generation=generation, only=only), loop_factory=uvloop.new_event_loop)


def load_stage(name: str) -> None:
    """Imports a stage with its libraries, before an event loop runs: that takes seconds of CPU.

    Args:
        name: As in :func:`run_stage`.
    """
    with loading():
        _module(name)
    collect_seldom()


async def serve_stage(
    name: str,
    settings: Settings,
    stop: asyncio.Event | None = None,
    *,
    generation: str | None = None,
    only: frozenset[str] | None = None,
    second: str = "",
    metering: "Metering | None" = None,
) -> None:
    """Runs a stage in a running event loop.

    Args:
        name: As in :func:`run_stage`.
        settings: The settings in force.
        stop: Ends the stage when it is set, as the first signal does.
        generation: As in :func:`run_stage`.
        only: As in :func:`run_stage`.
        second: For ``index``: fill a second store, under this name, in a separate consumer group next to the live workers.
        metering: For ``extraction`` with a generation: the limits of a re-extraction.
    """
    stage = stage_named(name)
    metrics().first_tenants.most = settings.metrics_tenants
    async with AsyncExitStack() as resources:
        tenants = await resources.enter_async_context(follow_tenants(settings, metrics())) if stage.knows_tenants else None
        options: dict[str, object] = {} if generation is None else {"generation": generation, "only": only}
        if metering is not None:
            options["metering"] = metering
        if tenants is not None:
            options["tenants"] = tenants
        new_driver: DriverFactory = await _module(name).build(settings, metrics(), resources, **options)
        worker = Worker(
            stage=name,
            group=stage.group(settings.kafka.topic_prefix, suffix=second if generation is None else generation_name(generation)),
            source=settings.topic(stage.source.name),
            has_table=stage.has_table,
            settings=settings,
            metrics=metrics(),
            new_driver=new_driver,
            also_ready=lambda: {} if tenants is None else {"control_followed": tenants.is_current},
        )
        await worker.run(stop or asyncio.Event())


def _module(name: str) -> ModuleType:
    """The module that builds a stage, imported only here: a stage's process must not carry the models and clients of the others."""
    return importlib.import_module(f"streams.stages.{name}.build")
