"""The demo: a stack of its own, a conversation through it, questions to it."""

import time
from collections.abc import Callable
from typing import Final

from varve.client import ServiceClient
from varve.conversations import Conversation
from varve.demo.catch_up import CatchUp
from varve.demo.harvest import harvest
from varve.demo.report import Answer, DemoOutcome
from varve.embedded.running import running_stack
from varve.embedded.stack import EmbeddedStack
from varve.supervisor.supervisor import Supervisor

TENANT: Final = "demo"


async def run_demo(
    stack: EmbeddedStack,
    supervisor: Supervisor,
    *,
    conversation: Conversation,
    questions: int,
    schema: str,
    notice: Callable[[str], None],
) -> DemoOutcome:
    """Starts a stack, feeds it a conversation, and asks its questions.

    Args:
        stack: On a data folder that nothing else uses.
        supervisor: Of the stack's levels.
        conversation: What to feed.
        questions: How many of its questions to ask, from the first.
        schema: What of it shall be remembered.
        notice: Told in one line what happens.

    Raises:
        VarveError: If any of it fails; in one sentence.
    """
    started = time.monotonic()
    async with running_stack(stack, supervisor, tenant=TENANT, schema=schema) as running:
        async with ServiceClient.of(running.settings) as service:
            notice(f"sending {len(conversation.messages)} messages")
            await service.send(conversation.messages)
            await service.flush()
            await CatchUp(settings=running.settings, progress=lambda stage, lag: notice(f"{stage}: {lag} records to go")).wait()
            notice("all stages have caught up")
            answers = [Answer(query=query, results=tuple(await service.recall(query))) for query in conversation.questions[:questions]]
        reaped = await harvest(running.settings)
        seconds = time.monotonic() - started
    return DemoOutcome(harvest=reaped, answers=tuple(answers), seconds=seconds)
