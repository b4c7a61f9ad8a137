"""The demo: starts a stack, sends a conversation, and asks questions."""

import time
from collections.abc import Callable
from typing import Final

from varve_client import AsyncVarveClient

from memory.schema import MemorySchema
from memory.texts.text import counted
from varve.conversations import Conversation
from varve.demo.report import DemoOutcome, Recall, read_contents
from varve.embedded.lifecycle import running_stack
from varve.embedded.stack import EmbeddedStack
from varve.lag import wait_for_zero_lag
from varve.service_client import service_client
from varve.supervisor.supervisor import Supervisor

TENANT: Final = "demo"


async def run_demo(
    stack: EmbeddedStack,
    supervisor: Supervisor,
    *,
    schema: MemorySchema,
    conversation: Conversation,
    questions: int,
    notice: Callable[[str], None],
) -> DemoOutcome:
    """Starts a stack, feeds it a conversation, and asks its questions.

    Args:
        stack: A stack on an unused data folder, with a developer's tenant.
        supervisor: The supervisor of the stack's levels.
        schema: The tenant's schema.
        conversation: The conversation to send.
        questions: Number of its questions to ask.
        notice: Called with a line of text for each step.

    Raises:
        VarveError: If a step fails; a single sentence.
    """
    started = time.monotonic()
    async with running_stack(stack, supervisor) as running:
        async with service_client(running.settings, max_attempts=running.settings.client.max_attempts) as service:
            notice(f"sending {counted(len(conversation.messages), 'message')}")
            await service.send(conversation.messages)
            await service.flush()
            await wait_for_zero_lag(running.settings, progress=lambda stage, lag: notice(f"{stage}: {counted(lag, 'record')} to go"))
            notice("all stages have caught up")
            recalls = [await _recall(service, query) for query in conversation.questions[:questions]]
        contents = await read_contents(running.settings)
        seconds = time.monotonic() - started
    return DemoOutcome(schema=schema, contents=contents, recalls=tuple(recalls), seconds=seconds)


async def _recall(service: AsyncVarveClient, query: str) -> Recall:
    answer = await service.recall(query)
    return Recall(query=query, results=tuple(each.as_dict() for each in answer.results), confidence=answer.confidence)
