"""The questions of the recall benchmarks, and the memories that they ask about, as the docstrings of the benchmarks describe them."""

import asyncio
import time

import numpy as np

from benchmarks.callers import question
from benchmarks.store_recalls import ReadyEmbedder, as_recalled, asked_by, memories, questions
from evaluation.bench_recall import ENTITY_TYPE, QUERY_ROWS
from memory.schema import scenario
from retrieval.query.first_person import asked_texts
from stores.port import NON_ENTITY_KINDS, TenantScope


def test_every_second_question_names_a_person() -> None:
    asked = [question("cell16-3", number, names_persons=True) for number in range(1, 101)]
    assert len(set(asked)) == 100
    assert [len(asked_texts(each)) for each in asked] == [1, 2] * 50
    assert all(len(asked_texts(question("cell16-3", number))) == 1 for number in range(1, 101))


def test_all_of_a_tenants_memories_are_one_users() -> None:
    data = memories(seed=1, tenants=3, plain=False)
    made = [data.point(index).memory for index in range(300)]
    assert {each.user for each in made} == {"user-0"}
    for tenant in ("tenant-0", "tenant-1", "tenant-2"):
        own = [each for each in made if each.tenant == tenant]
        assert (len(own), sum(each.kind == "entity" for each in own)) == (100, 2)
    assert scenario("companion").entity_type(ENTITY_TYPE) is not None
    plain = memories(seed=1, tenants=3, plain=True)
    assert len({plain.point(index).memory.user for index in range(300)}) == 7


def test_an_applications_queries_name_their_user() -> None:
    asked, plain = questions(20, tenants=2, plain=False), questions(20, tenants=2, plain=True)
    assert {each.filter.scope for each in asked} == {TenantScope("tenant-0", "user-0"), TenantScope("tenant-1", "user-0")}
    assert {each.filter.scope for each in plain} == {TenantScope("tenant-0"), TenantScope("tenant-1")}
    assert ({each.filter.kinds for each in asked}, {each.filter.kinds for each in plain}) == ({NON_ENTITY_KINDS}, {()})
    assert len({each.text for each in asked}) == 20
    assert all(np.array_equal(each.embedding.dense, other.embedding.dense) for each, other in zip(asked, plain, strict=True))


async def test_a_distractor_person_doubles_the_compared_memories() -> None:
    asked = questions(4, tenants=1, plain=False)
    rows = [len(each.embedding.late) for each in await as_recalled(asked) if each.embedding.late is not None]
    assert rows == [QUERY_ROWS, 2 * QUERY_ROWS] * 2
    embedder = ReadyEmbedder(asked)
    assert await embedder.embed_query(asked_texts(asked[1].text)[1]) is asked[1].embedding


async def test_callers_share_the_questions() -> None:
    asked: list[int] = []
    together = asyncio.Barrier(3)

    async def ask(number: int) -> None:
        asked.append(number)
        await together.wait()

    started = time.perf_counter()
    milliseconds = await asked_by(3, range(9), ask)
    assert sorted(asked) == [*range(9)]
    assert len(milliseconds) == 9
    assert 0 < max(milliseconds) <= (time.perf_counter() - started) * 1000
