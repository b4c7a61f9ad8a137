"""A store that the former analyzer has written is asked by its terms, too; what it had is found, and what is written now."""

from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from memory.records import Memory
from stores.edge.client import EdgeStore
from stores.edge.shard import Shard
from stores.former_terms import FORMER_ANALYZER_VERSION, former_terms_of
from stores.lexical_analysis import document_terms
from stores.port import RecallQuery, TenantScope
from tests.stores.edge_owner_process import EdgeOwnerProcess
from tests.stores.factories import DIMENSION, LATE_DIMENSION, MODEL, at, embedding, encoded, memory, point, prepared_shard

pytestmark = pytest.mark.integration

OLD, NEW = "मुझे मूंगफली से एलर्जी है", "मेरे भाई को मूंगफली पसंद है"
OF_ANOTHER = "मेरी बहन दिल्ली में पढ़ाती है"


def put_as_before(shard: Shard, stored: Memory) -> None:
    made = encoded(point(stored, position=at(0)))
    shard.upsert([replace(made, terms=document_terms(" ".join(former_terms_of(stored.content))))])


async def test_old_and_new_points_are_found(tmp_path: Path) -> None:
    shard = prepared_shard(tmp_path)
    put_as_before(shard, memory(OLD))
    put_as_before(shard, memory(OF_ANOTHER))
    shard.close()
    model = tmp_path / "model.json"
    model.write_bytes(orjson.dumps(orjson.loads(model.read_bytes()) | {"analyzer_version": FORMER_ANALYZER_VERSION}))

    with EdgeOwnerProcess(tmp_path) as owner:
        store = EdgeStore(path=owner.socket)
        await store.prepare(model=MODEL, dimension=DIMENSION, late_dimension=LATE_DIMENSION)
        await store.upsert([point(memory(NEW))])
        asked = "मूंगफली"
        found = await store.recall(RecallQuery(scope=TenantScope("acme"), text=asked, embedding=embedding(asked), explain=True))
        await store.close()

    by_words = {each.memory.content: each.parts.get("bm25", 0.0) for each in found}
    assert by_words[OLD] > by_words[OF_ANOTHER]
    assert by_words[NEW] > by_words[OF_ANOTHER]
    assert orjson.loads(model.read_bytes())["analyzer_version"] == FORMER_ANALYZER_VERSION, "until it is rebuilt"
