"""The graph of linked memories, for methods that link memories or arrange them in a tree."""

from typing import Any

import pytest

from api.routes.links import graph
from memory.records import Link, Memory
from memory.schema import scenario
from memory.schema.methods import method_document, with_method
from tests.api.running_service import RunningService, index, memory, when_known
from tests.control_log import add_tenant
from tests.streams.harness import until_true


def note(content: str, **fields: Any) -> Memory:
    return memory("linked", "ann", content, **fields)


LEAF = note("Ann has a cat")
NOTE = note("Ann's cat is called Miso", links=[Link(id=LEAF.id, relation="its name", score=0.5), Link(id="elsewhere")])
CHILD = note("Miso purrs", parent=LEAF.id, depth=2)


def test_links_to_unknown_memories_are_left_out() -> None:
    shown = graph([NOTE, LEAF], of=[NOTE])
    assert [each["id"] for each in shown["nodes"]] == [NOTE.id, LEAF.id]
    assert shown["edges"] == [{"source": NOTE.id, "target": LEAF.id, "relation": "its name", "score": 0.5}]
    assert graph([NOTE], of=[NOTE]) == {"nodes": [], "edges": []}


def test_a_node_of_a_tree_points_to_its_parent() -> None:
    shown = graph([CHILD, LEAF, NOTE], of=[CHILD])
    assert [(each["id"], each["depth"]) for each in shown["nodes"]] == [(CHILD.id, 2), (LEAF.id, None)]
    assert [each["relation"] for each in shown["edges"]] == ["parent"]


@pytest.mark.integration
@pytest.mark.asyncio(loop_scope="module")
async def test_a_tenant_sees_the_links_of_its_method(service: RunningService) -> None:
    plain = await service.http.get("/v1/links", headers=service.auth("acme"))
    assert plain.json() == {"available": False, "nodes": [], "edges": [], "truncated": False}
    schema = with_method(scenario("companion"), method_document("amem"))
    headers = await when_known(service, await add_tenant(service.settings, "linked", schema=schema))
    await index(service.settings, [LEAF, NOTE, memory("linked", "bob", "Bob has a dog", links=[Link(id=LEAF.id)])])

    async def is_indexed() -> bool:
        return len((await service.http.get("/v1/links", headers=headers)).json()["edges"]) == 2

    await until_true(is_indexed)
    ann = (await service.http.get("/v1/links", params={"user": "ann"}, headers=headers)).json()
    assert ann["available"]
    assert [(each["source"], each["target"]) for each in ann["edges"]] == [(NOTE.id, LEAF.id)]
    assert {each["content"] for each in ann["nodes"]} == {NOTE.content, LEAF.content}
    bob = (await service.http.get("/v1/links", params={"user": "bob"}, headers=headers)).json()
    assert bob["edges"] == [], "the end of the link is another user's"
    assert (await service.http.get("/v1/links", params={"limit": 1}, headers=headers)).json()["truncated"]
