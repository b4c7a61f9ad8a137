"""Answers near the size limit are read in linear time, and not on the event loop."""

from collections.abc import Callable
from typing import cast

import pytest

from extraction.build import build_extractor
from extraction.errors import UnusableAnswerError
from extraction.one_pass.answer.parsing import parse_answer
from extraction.one_pass.answer.validation import validate_answer
from extraction.one_pass.extraction_input import ExtractionInput
from extraction.port import ExtractionContext
from memory.schema import MemorySchema
from models.embedding.port import Embedder
from models.llm.port import LLM
from runtime.settings import LLMSettings, Settings
from tests.extraction.windows import window_of
from tests.growth import LINEAR, RESPONSIVE, growth, turns_during
from tests.immediate_llm import ImmediateLLM

_SIZE = 10_000
_EVENT = '{"events":[{"type":"life_event","content":"Moved.",%s}]}'


def _filled(unit: str, frame: str = "%s") -> Callable[[int], str]:
    return lambda size: frame % (unit * (size // len(unit)))


def _numbered(item: str, separator: str, frame: str = "%s") -> Callable[[int], str]:
    """A text of items with different numbers."""
    return lambda size: frame % separator.join(item % number for number in range(size // (len(item) + 4)))


@pytest.mark.parametrize(
    "build",
    [
        _numbered('"a":%d', ",", "{%s}"),
        _numbered("a:%d", ",", "{%s}"),
        _numbered('"events":[%d]', ",", "{%s}"),
        _numbered("%d", ",", '{"events":[%s]} no {"events":[-1]}'),
        lambda size: f'{{"events":{list(range(size // 10))}}} no {{"events":{list(range(-size // 10, 0))}}}',
        _numbered('{"type":"life_event","content":"Event %d.","msgs":[0]}', "\n"),
        _filled(" ", _EVENT % '"msgs":"1%sx"'),
        _filled(" ", _EVENT % '"msgs":[0],"weight":"1%sx"'),
        _filled(" ", _EVENT % '"msgs":[0],"date":"2023%sx"'),
        _filled(" ", '{"segments":[{"topic":"Moving","ranges":"[%sx"}]}'),
        _filled("\n ", "```%sx"),
        _filled("```\n"),
        _filled("[ ]", '{"events":[1]}%sx'),
        _filled("{ ", '{"events":[1]}%s'),
        _filled("{"),
        _filled("[{'"),
        _filled("[x] "),
        _filled("<|end_of_"),
    ],
    ids=lambda build: repr(build(40)),
)
def test_reading_time_is_linear_in_the_answer(build: Callable[[int], str], schema: MemorySchema) -> None:
    source = ExtractionInput(window_of("I moved."), schema, frozenset())
    assert growth(lambda text: validate_answer(parse_answer(text), source), build, size=_SIZE) < LINEAR


async def test_a_long_answer_is_read_off_the_loop(embedder: Embedder, schema: MemorySchema) -> None:
    llm = cast(LLM, ImmediateLLM(_numbered('{"a%d":', "")(60_000)))
    settings = Settings(llm=LLMSettings(base_url="http://localhost:9/v1", model="immediate"))
    extractor = build_extractor(settings, embedder=embedder, llm=llm)

    async def refused() -> None:
        with pytest.raises(UnusableAnswerError):
            await extractor.extract(window_of("I moved."), schema, ExtractionContext())

    _, turns = await turns_during(refused())

    assert turns > RESPONSIVE
