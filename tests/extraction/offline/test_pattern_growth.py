"""No regular expression of the extractor takes the square of a message's length, whatever the message repeats.

Many patterns alone are quadratic; the extractor bounds what it gives them. So the whole extraction is timed, with a
message for each pattern that repeats what the pattern looks for.
"""

import importlib
import pkgutil
import random
import re
import time
from collections.abc import Iterator
from re import _constants, _parser
from statistics import median
from typing import Any, Final

import pytest

import extraction.offline
from extraction.offline.events import type_forms
from extraction.offline.extractor import OfflineExtractor
from extraction.port import ExtractionContext
from memory.schema import MemorySchema, scenario
from memory.texts import prefiltered_patterns
from tests.extraction.embedders import CountingEmbedder
from tests.extraction.offline.windows import window_of
from tests.growth import LINEAR

LENGTH: Final = 2_500
"""Characters for each pattern."""
PATTERNS_A_MESSAGE: Final = 4
LONGEST: Final = 2.5
"""CPU of a message, in medians of all messages, from which on its growth is measured. With a pattern that takes the square of the length, a
message takes some 4 medians."""
GROUPS: Final = 4
CANDIDATES: Final = "a B1 ,.'-_!?é"
UNBOUNDED: Final = re.compile(r"[*+]|,\}")


def patterns() -> list[tuple[str, int]]:
    """All patterns of the package that repeat something without a bound: only these may take more than linear time."""
    for module in pkgutil.walk_packages(extraction.offline.__path__, "extraction.offline."):
        importlib.import_module(module.name)
    found = dict(prefiltered_patterns._PREFILTER._patterns)
    for forms in (type_forms._BY_NAME, type_forms._OPEN_BY_NAME, type_forms._SURE_BY_NAME):  # compiled when a schema needs them
        found |= dict.fromkeys(forms.values(), int(re.IGNORECASE))
    for module in pkgutil.walk_packages(extraction.offline.__path__, "extraction.offline."):
        for value in vars(importlib.import_module(module.name)).values():
            found |= {each.pattern: each.flags & ~re.UNICODE for each in compiled_in(value)}
    return sorted((each for each in found.items() if UNBOUNDED.search(each[0])), key=lambda each: each[0])


def compiled_in(value: Any) -> Iterator[re.Pattern[str]]:
    """The compiled patterns in a constant of a module."""
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, tuple | list | frozenset | set):
        for each in value:
            yield from compiled_in(each)
    elif isinstance(value, dict):
        yield from compiled_in(tuple(value.values()))


def sample(tree: Any, repeats: int, choose: random.Random) -> str:
    """A text that a pattern matches, or nearly: lookarounds are left out."""
    parts: list[str] = []
    for kind, value in tree:
        if kind is _constants.LITERAL:
            parts.append(chr(value))
        elif kind is _constants.NOT_LITERAL:
            parts.append("y" if value == ord("x") else "x")
        elif kind is _constants.ANY:
            parts.append("x")
        elif kind is _constants.IN:
            parts.append(member(value, choose))
        elif kind is _constants.BRANCH:
            parts.append(sample(choose.choice(value[1]), repeats, choose))
        elif kind is _constants.SUBPATTERN:
            parts.append(sample(value[3], repeats, choose))
        elif kind is _constants.ATOMIC_GROUP:
            parts.append(sample(value, repeats, choose))
        elif kind in (_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT):
            least, most, repeated = value
            parts += (sample(repeated, repeats, choose) for _ in range(min(int(most), max(int(least), repeats))))
    return "".join(parts)


def member(items: Any, choose: random.Random) -> str:
    """A character of a set."""
    kinds = {kind for kind, _ in items}
    pattern = re.compile(f"[{'^' if _constants.NEGATE in kinds else ''}{''.join(map(written, items))}]")
    return choose.choice([each for each in CANDIDATES if pattern.match(each)] or ["x"])


def written(item: tuple[Any, Any]) -> str:
    """A part of a set, as it is written."""
    kind, value = item
    if kind is _constants.LITERAL:
        return re.escape(chr(value))
    if kind is _constants.RANGE:
        return f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
    if kind is _constants.CATEGORY:
        name = str(value).removeprefix("CATEGORY_")
        letter = {"DIGIT": "d", "SPACE": "s", "WORD": "w"}[name.removeprefix("NOT_")]
        return f"\\{letter.upper() if name.startswith('NOT_') else letter}"
    return ""


@pytest.mark.parametrize("group", range(GROUPS))
async def test_every_pattern_takes_bounded_time(group: int) -> None:
    choose, extractor, schema = random.Random(group), OfflineExtractor(embedder=CountingEmbedder()), scenario("companion")
    await extractor.extract(window_of("I live in Oslo."), schema, ExtractionContext())
    measured: list[tuple[float, list[str], tuple[str, ...]]] = []
    ours = patterns()[group::GROUPS]
    for several in (ours[place : place + PATTERNS_A_MESSAGE] for place in range(0, len(ours), PATTERNS_A_MESSAGE)):
        units = [sample(_parser.parse(pattern, flags), 1, choose) or "a " for pattern, flags in several]
        measured.append((await seconds_of(extractor, schema, message(units)), units, tuple(pattern[:120] for pattern, _ in several)))
    longest_s = LONGEST * median(took for took, _, _ in measured)
    slow: list[tuple[float, list[str], tuple[str, ...]]] = []
    for took, units, looked_for in measured:
        if took > longest_s:
            # The first time, a message also pays for patterns that nobody had needed before it.
            once, twice = [await seconds_of(extractor, schema, message(units, times)) for times in (1, 2)]
            if twice > LINEAR * once > LINEAR * longest_s:
                slow.append((twice / once, units, looked_for))
    assert slow == []


def message(units: list[str], times: int = 1) -> str:
    """A message of the units, each repeated."""
    return "\x01".join((unit * (times * LENGTH // len(unit) + 1))[: times * LENGTH] for unit in units)


async def seconds_of(extractor: OfflineExtractor, schema: MemorySchema, text: str) -> float:
    """The CPU of the extraction of one message."""
    began = time.process_time()
    await extractor.extract(window_of(text), schema, ExtractionContext())
    return time.process_time() - began
