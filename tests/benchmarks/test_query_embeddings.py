"""The upper bound of recalls: how many questions the model alone embeds."""

from benchmarks.recall import embeddings_per_second


async def test_each_caller_embeds_new_questions() -> None:
    assert await embeddings_per_second(callers=2, seconds=0.3) > 0
