"""``python -m evaluation tokens``: the tokens of one-pass extraction on LoCoMo, compared with other ways to extract the same.

The prompts are those that the extractor builds. The answers are simulated (:mod:`evaluation.tokens.simulation`), with the length and the
form that a good model's would have.
"""

import argparse
import asyncio
from collections import defaultdict
from collections.abc import Iterable
from typing import Any, Final

from evaluation.locomo import AnnotatedWindow, read_locomo
from evaluation.tokens.history import tokens_by_history
from evaluation.tokens.pipelines import Call, multi_pass, one_pass, one_pass_without_eua, per_message
from evaluation.tokens.schemas import PAPER, measured_schema
from evaluation.tokens.simulation import AnswerSimulator, SimulatedWindow
from evaluation.tokens.tokenizer import TokenCounter, open_tokenizer
from evaluation.tokens.usage import TokenUsage
from memory.schema import MemorySchema, scenario_names
from models.embedding.build import build_embedder
from models.embedding.port import Embedder
from runtime.settings import Settings

GOALS: Final = {"one_pass_to_multi_pass": 1 / 3.2, "eua_to_one_pass": 0.65}
"""VikingMem 5.3, table 2: dollars 0.35 against 0.11, and 0.11 against 0.07; the first without EUA."""

DEFINITIONS: Final = {
    "one_pass_to_multi_pass": "one-pass extraction as it ships (with EUA) to one call per memory type (without EUA)",
    "one_pass_without_eua_to_multi_pass": "the same without EUA on either side: what the paper's factor of 3.2 compares",
    "eua_to_one_pass": "one-pass extraction with EUA to the same without",
    "one_pass_to_per_message": "one-pass extraction as it ships to calls per message",
    "by_cost": "the same ratios of cost, which is what the paper's ratios and so the goals are of; those beside it count tokens",
}
_RATIOS: Final = {
    "one_pass_to_multi_pass": ("one_pass", "multi_pass"),
    "one_pass_without_eua_to_multi_pass": ("one_pass_without_eua", "multi_pass"),
    "eua_to_one_pass": ("one_pass", "one_pass_without_eua"),
    "one_pass_to_per_message": ("one_pass", "per_message"),
}

ASSUMPTIONS: Final = (
    "windows are LoCoMo's sessions, cut at the default message cap; prompts are built by the extractor itself",
    "events: LoCoMo's observations (annotated facts with their turns), typed by embedding; two of three properties filled, one of three "
    "events on another day than its message",
    "segments: the offline extractor's; summary: their topics in the session's windows before, as the extraction stage gives it",
    "entities: the session's annotated significant events change the profile; with the paper's configuration the observations of each "
    "segment change the nearest topic; texts grow up to what the PATCH operator allows, and are the same in every way of extraction",
    "with EUA the prompt shows the nearest entities, each up to its cap, and every third patch replaces words; without it one merge call "
    "rewrites each entity that changed",
    "multi-pass: one call per memory type that needs a model (purely statistical entities need none), event types by the same compiled "
    "prompt for that type alone and without segments, entity types by a short prompt for their facts, then the same merges",
    "per message: a fact call with summary and last 10 messages, and an update call against 5 memories per fact where there are facts",
    "by history: the same windows behind 1, 10 and 100 times the conversation; without EUA a merge rewrites the entity as it then stands",
    "tokens of chat templates, equal per call and few, are not counted",
    "cost: completion tokens weigh 4 prompt tokens, prefixes of 1024 tokens and more are cached at half the price",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's own arguments."""
    names = (*scenario_names(), PAPER)
    parser.add_argument("--schema", choices=names, default="companion", help="the schema whose ratios are at the top of the report")
    parser.add_argument("--others", nargs="*", choices=names, default=[PAPER], help="further schemas to measure")
    parser.add_argument("--conversations", type=int, help="how many conversations to read; default: all")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Runs the benchmark and returns its report."""
    return asyncio.run(_run(arguments))


async def _run(arguments: argparse.Namespace) -> dict[str, Any]:
    conversations = read_locomo(arguments.data)[: arguments.conversations]
    settings = Settings()
    embedder = build_embedder(settings.embedding, cache=settings.cache_path)
    try:
        with open_tokenizer(settings.cache_path / "local-llm") as (name, count):
            schemas = {each: measured_schema(each) for each in dict.fromkeys((arguments.schema, *arguments.others))}
            measured = {each: await _measure(conversations, schema, embedder, count) for each, schema in schemas.items()}
            history = await tokens_by_history(conversations[0], schemas[arguments.schema], embedder, count)
    finally:
        await embedder.close()
    first = measured[arguments.schema]
    return {
        "data": arguments.data.name,
        "tokenizer": name,
        "conversations": len(conversations),
        "windows": sum(map(len, conversations)),
        "messages": sum(len(each.window.messages) for windows in conversations for each in windows),
        "schema": arguments.schema,
        **{name: first[name] for name in DEFINITIONS},
        "per_window_by_history": history,
        "cached_prefix_share": first["cached_prefix_share"],
        "definitions": DEFINITIONS,
        "goals": GOALS,
        "by_schema": measured,
        "assumptions": ASSUMPTIONS,
    }


async def _measure(
    conversations: Iterable[list[AnnotatedWindow]], schema: MemorySchema, embedder: Embedder, count: TokenCounter
) -> dict[str, Any]:
    usage: dict[str, TokenUsage] = defaultdict(TokenUsage)
    simulator = AnswerSimulator(schema=schema, embedder=embedder)
    for windows in conversations:
        memories: list[str] = []
        async for simulated in simulator.simulate(windows):
            for way, calls in _ways(simulated, schema, memories).items():
                usage[way].add_calls(calls, count)
            memories += [each.text for each in simulated.annotated.observations]
    return {
        "memory_types": len(schema.event_types) + sum(1 for each in schema.entity_types if each.patched_properties()),
        **{name: round(usage[way].tokens / usage[other].tokens, 4) for name, (way, other) in _RATIOS.items()},
        "by_cost": {name: round(usage[way].cost / usage[other].cost, 4) for name, (way, other) in _RATIOS.items()},
        "cached_prefix_share": round(usage["one_pass"].prefix / usage["one_pass"].prompt, 4),
        "ways": {way: total.as_report() for way, total in usage.items()},
    }


def _ways(simulated: SimulatedWindow, schema: MemorySchema, memories: list[str]) -> dict[str, Iterable[Call]]:
    return {
        "one_pass": one_pass(simulated, schema),
        "one_pass_without_eua": one_pass_without_eua(simulated, schema),
        "multi_pass": multi_pass(simulated, schema),
        "per_message": per_message(simulated, memories),
    }
