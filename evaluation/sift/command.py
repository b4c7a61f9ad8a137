"""``python -m evaluation sift``: which share of a query's gold sessions the coarse filters keep at budgets of 2,000 to 128,000 tokens.

This is table 6 of MemSifter, for each filter and budget. No model is called. A user's turns, or with ``--content events`` the events of the
offline extractor, are in a real store, and the recall pipeline ranks them as ``mode=sift`` does. A query sees the sessions before it. If
all fit, all are kept. Tokens are estimated as the service does.
"""

import argparse
import asyncio
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any, Final, get_args

from evaluation.data_files import format_of
from evaluation.intervals import mean_with_interval
from evaluation.locomo import TENANT
from evaluation.markdown import table
from evaluation.recall.corpus import RAW_TENANT, MemoryWriter, empty_store, raw_turns
from evaluation.recall.memories import SCHEMA, memories_of
from evaluation.sift.histories import SessionQuery, UserHistory, read_histories
from memory.records import Memory
from models.embedding.port import Embedder
from retrieval.pipeline import RecallPipeline
from retrieval.request import RecallRequest
from retrieval.session_ranking.coarse_filter import filter_scores, within_budget
from retrieval.session_ranking.llm_session_ranker import MAX_RANKED
from retrieval.session_ranking.sessions import SessionText, sessions_of
from runtime.clocks import ManualClock
from runtime.file_digest import file_sha256
from runtime.settings import Settings, SiftFilter
from stores.port import MemoryFilter, MemoryStore, TenantScope

BUDGETS: Final = (2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000)
FILTERS: Final[tuple[SiftFilter, ...]] = get_args(SiftFilter)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's own arguments."""
    parser.add_argument(
        "--content", choices=("turns", "events"), default="turns", help="what the sessions consist of; default: %(default)s"
    )
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every N-th query; default: all")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Filters the sessions of each query, and returns the report."""
    return asyncio.run(_run(arguments))


@dataclass(slots=True)
class _Kept:
    """The results of one filter and budget."""

    shares: list[float] = field(default_factory=list)
    """For each query, the share of its gold sessions that is kept."""
    tokens: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _User:
    """A user's sessions in a store."""

    user: UserHistory
    tenant: str
    sessions: Sequence[SessionText]
    store: MemoryStore
    embedder: Embedder
    settings: Settings

    async def kept(self, query: SessionQuery) -> dict[tuple[SiftFilter, int], tuple[float, int]]:
        """By filter and budget, the share of the gold sessions that is kept, and the tokens of the kept sessions."""
        names = set(query.sessions)
        sessions = [each for each in self.sessions if each.key.session in names]
        pipeline = RecallPipeline(
            store=self.store, embedder=self.embedder, settings=self.settings.recall, clock=ManualClock(query.asked_at)
        )
        scope = TenantScope(self.tenant, self.user.user)
        request = RecallRequest(
            filter=MemoryFilter(scope=scope, kinds=("event",), sessions=query.sessions),
            query=query.text,
            limit=MAX_RANKED,
            min_origin_score=0.0,
            explain=True,
        )
        ranked, _ = await pipeline.ranked_memories(request)
        found: dict[tuple[SiftFilter, int], tuple[float, int]] = {}
        for name in FILTERS:
            scores = await filter_scores(name, sessions, ranked.hits, query.text)
            for budget in BUDGETS:
                kept = within_budget(sessions, scores, budget)
                gold = query.gold.intersection(each.key.session for each in kept)
                found[name, budget] = (len(gold) / len(query.gold), sum(each.tokens for each in kept))
        return found


async def _run(arguments: argparse.Namespace) -> dict[str, Any]:
    settings = Settings()
    results = {(name, budget): _Kept() for name in FILTERS for budget in BUDGETS}
    users = sessions = queries = 0
    history_tokens: list[int] = []
    async with empty_store(settings) as (store, embedder):
        writer = MemoryWriter(store, embedder)
        for history in read_histories(arguments.data):
            asked = history.queries[:: arguments.every]
            if not asked:
                continue
            memories = await _memories(history, embedder, content=arguments.content)
            await writer.write(memories)
            user = _User(
                history,
                RAW_TENANT if arguments.content == "turns" else TENANT,
                sessions_of(memories, arguments.content),
                store,
                embedder,
                settings,
            )
            for query in asked:
                for key, (share, tokens) in (await user.kept(query)).items():
                    results[key].shares.append(share)
                    results[key].tokens.append(tokens)
                history_tokens.append(sum(each.tokens for each in user.sessions if each.key.session in query.sessions))
            users, sessions, queries = users + 1, sessions + len(user.sessions), queries + len(asked)
            print(f"{users} users, {queries} queries", end="\r", file=sys.stderr, flush=True)
    report = {
        "data": _hashes(arguments.data),
        "format": format_of(arguments.data).lower(),
        "content": arguments.content,
        "schema": SCHEMA,
        "embedding": settings.embedding.model,
        "profile": settings.recall.profile,
        "users": users,
        "sessions": sessions,
        "queries": queries,
        "mean_history_tokens": round(fmean(history_tokens)) if history_tokens else 0,
        "filters": {
            name: {str(budget): _figures(results[name, budget]) for budget in BUDGETS if results[name, budget].shares} for name in FILTERS
        },
    }
    return {**report, "markdown": "\n".join(_markdown(report))}


async def _memories(history: UserHistory, embedder: Embedder, *, content: str) -> list[Memory]:
    if content == "turns":
        return raw_turns(history.windows)
    return [each for each in await memories_of(history.windows, embedder) if each.kind == "event"]


def _figures(kept: _Kept) -> dict[str, Any]:
    mean = mean_with_interval(kept.shares)
    return {"recall": mean.value, "recall_interval": mean.interval, "tokens": round(fmean(kept.tokens))}


def _hashes(path: Path) -> dict[str, str]:
    files = sorted(path.glob("*.json")) if path.is_dir() else [path]
    return {each.name: file_sha256(each) for each in files}


def _markdown(report: Mapping[str, Any]) -> Iterator[str]:
    yield (
        f"{report['format']}, {report['content']}: {report['users']} users, {report['queries']} queries, "
        f"{report['mean_history_tokens']} tokens of history on average; share of gold sessions kept, in percent"
    )
    yield ""
    tokens = next(iter(report["filters"].values())).values()
    yield from table(
        ("filter", *(f"{budget // 1000}k" for budget in BUDGETS)),
        (
            *((name, *(f"{100 * each['recall']:.1f}" for each in by_budget.values())) for name, by_budget in report["filters"].items()),
            ("tokens kept", *(str(each["tokens"]) for each in tokens)),
        ),
    )
