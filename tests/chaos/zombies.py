"""Workers that sleep longer than their session, and wake up when their partitions are another's."""

import asyncio
import signal

from runtime.kafka import KafkaOffsets
from streams.stages import STAGES
from tests.chaos.run import Break, Scene

_BEYOND_SESSION_S = 4.0
_EXIT_DEADLINE_S = 60.0


def zombie(stage: str) -> Break:
    """A worker is stopped, another takes over and works, the first goes on: it must end by itself, and change nothing."""

    async def breaks(scene: Scene) -> None:
        sleeper = scene.cluster.workers[stage][0]
        async with scene.cluster.second_worker(stage):
            before = len(sleeper.exits)
            async with sleeper.frozen():
                await asyncio.sleep(_sleep_s(scene))
            await _ends_by_itself(scene, stage, before)

    return breaks


def zombie_alone(stage: str) -> Break:
    """A stage's only worker is stopped and goes on: from then on nothing of it may reach the stage's changelog."""

    async def breaks(scene: Scene) -> None:
        await scene.cluster.ready()
        sleeper = scene.cluster.workers[stage][0]
        changelog = STAGES[stage].changelog(scene.cluster.settings.kafka.topic_prefix)
        before = len(sleeper.exits)
        async with sleeper.not_again():
            async with sleeper.frozen():
                await asyncio.sleep(_sleep_s(scene))
                asleep = await _ends(scene, changelog)
            await _ends_by_itself(scene, stage, before)
            scene.expect(await _ends(scene, changelog) == asleep, f"the {stage} zombie wrote to its changelog")

    return breaks


async def _ends_by_itself(scene: Scene, stage: str, before: int) -> None:
    sleeper = scene.cluster.workers[stage][0]
    try:
        async with asyncio.timeout(_EXIT_DEADLINE_S):
            code = await sleeper.exited_since(before)
    except TimeoutError:
        scene.expect(False, f"the {stage} zombie goes on working")
        sleeper.send(signal.SIGKILL)
    else:
        scene.expect(code > 0, f"the {stage} zombie ended with {code}")


async def _ends(scene: Scene, topic: str) -> dict[object, int]:
    async with KafkaOffsets(kafka=scene.cluster.settings.kafka) as offsets:
        return dict(await offsets.end_offsets([topic]))


def _sleep_s(scene: Scene) -> float:
    return scene.cluster.settings.kafka.session_timeout_s + _BEYOND_SESSION_S
