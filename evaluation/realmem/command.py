"""``python -m evaluation realmem``: recall and extraction on RealMem's chats with an assistant.

Each user's sessions are replayed in order. A query is asked at its own time over the memories of the earlier sessions alone, and its
evidence is the messages and sessions of the memories that its answer used. The same run ranks the memories by single scores and ranks
the turns themselves (``raw_``). Without ``--model`` the offline extractor makes the memories. With it, the model's replies are kept as in
``extraction``, and the report also says how much of the gold memories it stored (:mod:`evaluation.realmem.coverage`).
"""

import argparse
import asyncio
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, Final

from evaluation.cached_llm import KeptLLM, KeptReplies, endpoint_settings
from evaluation.extraction.asking import extracted
from evaluation.markdown import table
from evaluation.qa.calls import Model
from evaluation.realmem.coverage import Coverage, coverage_of, coverage_report
from evaluation.realmem.dataset import User, read_user, user_files
from evaluation.realmem.judging import Judged, judged, judged_report
from evaluation.realmem.measures import summary
from evaluation.realmem.replay import WAYS, Answered, Replayed, replayed
from evaluation.recall.memories import SCHEMA
from extraction.build import build_extractor
from extraction.port import ExtractionContext, Extractor
from memory.records import Extraction
from memory.schema import MemorySchema, scenario, scenario_names
from models.embedding.build import build_embedder
from runtime.file_digest import file_sha256
from runtime.settings import Settings

_JUDGEMENT_TOKENS: Final = 1000
"""Longest reply of a judge; a model that thinks aloud needs more."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's own arguments."""
    parser.add_argument("--user", metavar="NAME", help="only this user, for example Pak_Budi; default: all files of the folder")
    parser.add_argument("--sessions", type=int, metavar="N", help="only each user's first N sessions; default: all")
    parser.add_argument("--schema", choices=scenario_names(), default=SCHEMA, help="the memory types to extract; default: %(default)s")
    parser.add_argument("--model", help="a model that extracts; default: the extractor without a model")
    parser.add_argument("--endpoint", help="OpenAI-compatible address of the model; default: VARVE_LLM__BASE_URL")
    parser.add_argument("--judge", metavar="URL", help="address of the model that judges; default: the one that extracts")
    parser.add_argument("--judge-model", help="a model that judges what was stored, one call per session; default: words are compared")
    parser.add_argument("--concurrency", type=int, default=4, help="calls of the judge at the same time; default: %(default)s")
    parser.add_argument("--replies", type=Path, default=Path("build/realmem/replies.jsonl"), help="where a model's replies are kept")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Replays each user's sessions, and returns the report."""
    return asyncio.run(_run(arguments))


@dataclass(slots=True)
class _Results:
    """The results of all users so far."""

    replays: dict[str, Replayed] = field(default_factory=dict)
    coverages: list[Coverage] = field(default_factory=list)
    judgements: list[Judged] = field(default_factory=list)
    unusable: int = 0
    """Windows for which the model gave no usable answer."""


async def _run(arguments: argparse.Namespace) -> dict[str, Any]:
    files = user_files(arguments.data, arguments.user)
    users = [replace(each, sessions=each.sessions[: arguments.sessions]) for each in map(read_user, files)]
    settings, schema, kept = Settings(), scenario(arguments.schema), KeptReplies(arguments.replies)
    judge = _judge(arguments, settings, kept)
    llm = None
    if arguments.model is not None:
        settings = endpoint_settings(settings, url=arguments.endpoint, model=arguments.model, concurrency=1)
        llm = KeptLLM(settings, kept=kept, purpose="extraction")
    embedder = build_embedder(settings.embedding, cache=settings.cache_path)
    extractor = build_extractor(settings, embedder=embedder, llm=llm)
    results = _Results()
    try:
        for user in users:
            if llm is None:
                extractions = await _extracted_offline(user, extractor, schema)
            else:
                extractions, failed = await _extracted_by_model(user, extractor, schema, settings)
                results.unusable += failed
            coverages = coverage_of(user, extractions)
            results.coverages += coverages
            if judge is not None:
                found = await asyncio.gather(*(judged(*each, judge) for each in zip(user.sessions, coverages, strict=True)))
                results.judgements += filter(None, found)
            results.replays[user.name] = await replayed(user, extractions, schema, settings)
            print(f"{user.name}: {len(results.replays[user.name].answered)} queries", file=sys.stderr, flush=True)
    finally:
        await extractor.close()
        await embedder.close()
        if judge is not None:
            await judge.close()
    report = {
        "data": {each.name: file_sha256(each) for each in files},
        "pipeline": "in process, without Kafka; Qdrant Edge through its socket",
        "extractor": extractor.name,
        "schema": arguments.schema,
        "embedding": settings.embedding.model,
        "sessions": sum(len(each.sessions) for each in users),
        "sessions_redated": sum(session.is_redated for each in users for session in each.sessions),
        "calls": 0 if llm is None else llm.asked,
        "unusable_windows": results.unusable,
        **_recall_report(results.replays),
        "coverage": coverage_report(results.coverages),
        **({} if judge is None else {"judge": judge.name, "judged": judged_report(results.judgements)}),
    }
    return {**report, "markdown": "\n".join(_markdown(report))}


def _judge(arguments: argparse.Namespace, settings: Settings, kept: KeptReplies) -> Model | None:
    if arguments.judge_model is None:
        return None
    url = arguments.judge or arguments.endpoint
    judging = endpoint_settings(settings, url=url, model=arguments.judge_model, concurrency=arguments.concurrency)
    return Model(judging, kept=kept, purpose="judge", max_tokens=_JUDGEMENT_TOKENS)


def _recall_report(replays: Mapping[str, Replayed]) -> dict[str, Any]:
    answered = [each for replay in replays.values() for each in replay.answered]
    return {
        "memories": sum(each.memories for each in replays.values()),
        "queries_without_evidence": sum(each.without_evidence for each in replays.values()),
        "overall": _summary(answered, WAYS[0]),
        "ways": {way: _summary(answered, way) for way in WAYS},
        "categories": _by_group((each.query.category, each) for each in answered),
        "session_types": _by_group((each.query.session_type, each) for each in answered),
        "users": _by_group((name, each) for name, replay in replays.items() for each in replay.answered),
    }


async def _extracted_offline(user: User, extractor: Extractor, schema: MemorySchema) -> dict[str, Extraction]:
    windows = chain.from_iterable(each.windows for each in user.sessions)
    return {each.id: await extractor.extract(each, schema, ExtractionContext()) for each in windows}


async def _extracted_by_model(
    user: User, extractor: Extractor, schema: MemorySchema, settings: Settings
) -> tuple[dict[str, Extraction], int]:
    windows = [window for each in user.sessions for window in each.windows]
    found = await extracted(windows, extractor, schema, settings)
    return {each.window_id: each for each in found.extractions}, found.unusable


def _summary(answered: Sequence[Answered], way: str) -> dict[str, Any]:
    return summary([each.outcomes[way] for each in answered])


def _by_group(answered: Iterable[tuple[str, Answered]]) -> dict[str, dict[str, Any]]:
    """By group and way, the quality of the group's queries."""
    groups: dict[str, list[Answered]] = {}
    for name, each in answered:
        groups.setdefault(name, []).append(each)
    return {name: {way: _summary(each, way) for way in WAYS} for name, each in sorted(groups.items())}


_COLUMNS: Final = (
    ("messages", "recall_at_5"),
    ("messages", "recall_at_10"),
    ("messages", "hit_at_10"),
    ("messages", "ndcg_at_10"),
    ("sessions", "recall_at_5"),
    ("sessions", "recall_at_10"),
    ("sessions", "hit_at_10"),
    ("sessions", "ndcg_at_10"),
)


def _markdown(report: Mapping[str, Any]) -> Iterator[str]:
    queries, with_messages = report["overall"]["queries"], report["overall"]["messages"]["queries"]
    yield f"{queries} queries, {with_messages} of them with known source messages; extractor {report['extractor']}"
    yield ""
    yield from table(
        ("ranking", *(f"{kind} {name}" for kind, name in _COLUMNS)),
        ((way, *(_cell(figures, *each) for each in _COLUMNS)) for way, figures in report["ways"].items()),
    )
    yield ""
    groups = [each for kind in ("categories", "session_types", "users") for each in report[kind].items()]
    yield from table(
        ("group", "queries", *(f"messages recall_at_10, {each}" for each in WAYS), f"sessions recall_at_10, {WAYS[0]}"),
        (
            (
                name,
                str(by_way[WAYS[0]]["queries"]),
                *(_cell(by_way[way], "messages", "recall_at_10") for way in WAYS),
                _cell(by_way[WAYS[0]], "sessions", "recall_at_10"),
            )
            for name, by_way in groups
        ),
    )
    yield ""
    words = [str(report["coverage"][each]) for each in ("gold", "covered_share", "items", "unsupported_share")]
    yield from table(("gold memories", "covered", "stored items", "unsupported"), [words])
    if "judged" in report:
        yield ""
        verdicts = [str(report["judged"][each]) for each in ("gold", "covered_share", "items", "false_share")]
        yield from table(("gold memories", f"covered, judged by {report['judge']}", "stored items", "false"), [verdicts])


def _cell(figures: Mapping[str, Any], kind: str, name: str) -> str:
    value = figures[kind].get(name)
    return "-" if value is None else f"{value:.3f}"
