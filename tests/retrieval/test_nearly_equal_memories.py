"""Among many memories that are nearly the same, a question finds the one whose number, name or word it has; with the real model."""

from random import Random

import pytest

from models.embedding.port import Embedder
from retrieval.pipeline import RecallPipeline
from retrieval.request import RecallRequest
from runtime.clocks import ManualClock
from runtime.settings import RecallSettings
from stores.edge.client import EdgeStore
from stores.port import MemoryFilter, TenantScope
from tests.stores.factories import NOON, memory, store_memories

pytestmark = pytest.mark.integration

NUMBERS = Random(1).sample(range(1000, 9999), 90)
ASKED = 8


@pytest.mark.parametrize("profile", ["learned", "weighted"])
@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("Tool call search_orders(order_id={}) failed with status 404", "What happened to order {}?"),
        ("The payment service answered with error E{} and the agent tried again", "What did the agent do on error E{}?"),
        ("Ticket OPS-{} was moved to review by the on-call engineer", "Who moved OPS-{}?"),
        ("Host web-{} was restarted after its memory ran out", "Why was web-{} restarted?"),
        ("Ann took train {} to Lyon", "When did Ann take train {}?"),
    ],
)
async def test_the_one_with_the_number_is_first(edge_store: EdgeStore, embedder: Embedder, profile: str, said: str, asked: str) -> None:
    stored = [memory(said.format(number)) for number in NUMBERS]
    await store_memories(edge_store, *stored, embedder=embedder)
    recall = RecallPipeline(store=edge_store, embedder=embedder, settings=RecallSettings(), clock=ManualClock(NOON))
    for number in NUMBERS[:ASKED]:
        request = RecallRequest(filter=MemoryFilter(scope=TenantScope("acme")), query=asked.format(number), limit=1, profile=profile)
        [hit] = (await recall.recall(request)).hits
        assert hit.memory.content == said.format(number)
