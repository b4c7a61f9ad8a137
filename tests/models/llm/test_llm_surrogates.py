"""Characters that come in halves: joined across pieces, or replaced if a half is alone; a paid answer is never lost."""

from hypothesis import given
from hypothesis import strategies as st

from memory.texts.text import SurrogateJoiner, join_surrogates
from models.llm.cache import AnswerCache, Place, prompt_hash
from models.llm.port import LLMAnswer
from runtime.redis.client import GuardedRedis
from tests.models.llm.conftest import BuildLLM, BuildRequest, Serve
from tests.models.llm.raw_endpoint import chunk, raw_endpoint, stream_of

END = chunk(finish="stop")


async def test_an_emoji_split_over_deltas_is_joined(llm_of: BuildLLM, ask: BuildRequest) -> None:
    async with raw_endpoint(stream_of(chunk("a\ud83d"), chunk("\ude00b"), chunk("\ud83d"), chunk(""), chunk("\ude00"), END)) as url:
        llm = llm_of(url)
        assert (await llm.complete(ask())).text == "a😀b😀"
        assert [piece async for piece in llm.stream(ask(attempt=1))] == ["a", "😀b", "😀"]


async def test_a_lone_surrogate_is_replaced_and_the_answer_cached(llm_of: BuildLLM, ask: BuildRequest) -> None:
    async with raw_endpoint(stream_of(chunk("\ude00a\ud83d"), chunk("b\ud83d"), END)) as url:
        llm = llm_of(url)
        assert (await llm.complete(ask())).text == "\ufffda\ufffdb\ufffd"
        assert [piece async for piece in llm.stream(ask(attempt=1))] == ["\ufffda", "\ufffdb", "\ufffd"]
        assert (await llm.complete(ask())).from_cache


async def test_a_question_with_a_surrogate_can_be_sent(llm_of: BuildLLM, ask: BuildRequest, serve: Serve) -> None:
    endpoint = await serve()
    assert (await llm_of(endpoint).complete(ask("Who is \ud83d?"))).text == "yes"
    assert endpoint.requests[0].messages[-1] == ("user", "Who is \ufffd?")


async def test_an_answer_with_a_surrogate_is_cached(ask: BuildRequest) -> None:
    cache = AnswerCache(redis=GuardedRedis(client=None, prefix="varve:"), ttl_s=60)
    asked = prompt_hash(ask("\ud83d"), model="m", max_tokens=9)
    await cache.put(await cache.get(Place("acme", asked)), LLMAnswer(text="a\ud83d", model="m"))
    assert (await cache.get(Place("acme", asked))).answer is not None


@given(st.lists(st.text(st.characters(blacklist_categories=()) | st.sampled_from("\ud83d\ude00a\ufeff"), max_size=4)))
def test_pieces_join_as_the_whole_does(pieces: list[str]) -> None:
    joiner = SurrogateJoiner()
    joined = "".join([*map(joiner.add, pieces), joiner.end()])
    assert joined == join_surrogates("".join(pieces))
    joined.encode()
