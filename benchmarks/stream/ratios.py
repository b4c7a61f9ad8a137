"""How much of Faust's own speed the sessions and the entities stage keep, all on one broker, one after the other."""

import statistics
from pathlib import Path
from typing import Final

from benchmarks.stream.load import SCHEMA, TENANT, contributions, fill, messages
from benchmarks.stream.meter import Speed, environment, measure, process
from benchmarks.stream.stage import fresh
from runtime.settings import Settings

_TIMEOUT_S: Final = 300.0


async def passthrough(base: Settings, folder: Path, count: int, sessions: int) -> Speed:
    """Faust alone."""
    settings = await fresh(base, folder)
    topic = settings.topic("messages")
    await fill(topic, messages(count, sessions), settings)
    async with process(["-m", "benchmarks.stream.passthrough", "passthrough", topic], environment(settings)) as child:
        return await measure("passthrough", topic, child, settings, timeout_s=_TIMEOUT_S)


async def sessions_stage(base: Settings, folder: Path, count: int, sessions: int) -> Speed:
    """The sessions stage whole: state, changelog, windows, tails, commits."""
    settings = await fresh(base, folder, **{TENANT: SCHEMA})
    topic = settings.topic("messages")
    await fill(topic, messages(count, sessions), settings)
    async with process(["-m", "varve", "worker", "sessions"], environment(settings)) as child:
        return await measure(settings.topic("sessions"), topic, child, settings, timeout_s=_TIMEOUT_S)


async def entities_stage(base: Settings, folder: Path, count: int, entities: int) -> Speed:
    """The entities stage whole, with COUNT and SUM: state, changelog, the change feed, commits."""
    settings = await fresh(base, folder, **{TENANT: SCHEMA})
    topic = settings.topic("contributions")
    await fill(topic, contributions(count, entities, settings), settings)
    async with process(["-m", "varve", "worker", "entities"], environment(settings)) as child:
        return await measure(settings.topic("entities"), topic, child, settings, timeout_s=_TIMEOUT_S)


async def ratios(base: Settings, folder: Path, *, count: int, keys: int, rounds: int) -> dict[str, object]:
    """Runs the three in turn, ``rounds`` times, and compares the medians.

    Args:
        base: Where Kafka and Redis are.
        folder: For tables; may grow to some hundred megabytes.
        count: Records of each run.
        keys: Sessions, or entities.
        rounds: How often.

    Returns:
        ``ratio_sessions`` and ``ratio_entities``, with what they come from.
    """
    runs: dict[str, list[Speed]] = {"passthrough": [], "sessions": [], "entities": []}
    for _ in range(rounds):
        runs["passthrough"].append(await passthrough(base, folder, count, keys))
        runs["sessions"].append(await sessions_stage(base, folder, count, keys))
        runs["entities"].append(await entities_stage(base, folder, count, keys))
    median = {name: statistics.median(run.per_second for run in each) for name, each in runs.items()}
    return {
        "ratio_sessions": round(median["sessions"] / median["passthrough"], 3),
        "ratio_entities": round(median["entities"] / median["passthrough"], 3),
        "records_per_second": {name: [round(run.per_second) for run in each] for name, each in runs.items()},
        "cpu_us_per_record": {name: [round(run.cpu_us, 1) for run in each] for name, each in runs.items()},
        "resident_mb": {name: [round(run.memory_mb) for run in each] for name, each in runs.items()},
        "records": count,
        "keys": keys,
    }
