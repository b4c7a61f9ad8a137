"""``python -m evaluation locomo``: the share of LoCoMo's evidence that recalls find, by each way of ranking, in one run.

The offline extractor makes the memories, with the whole pipeline in one process: the parts of the stages and a real Edge store with its
socket, without Kafka. The recall pipeline of the service answers the questions for the user of the conversation. ``overall`` is the shipped
profile. Its weights were fitted to five conversations, so the figures on these are too good: ``python -m evaluation fit-ranking`` leaves
each conversation out in turn.
"""

import argparse
import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, get_args

from evaluation.locomo import TENANT
from evaluation.recall.ablation import ablation
from evaluation.recall.asking import Asked, messages_of, recalled
from evaluation.recall.baselines import BASELINES, baseline_rankings
from evaluation.recall.corpus import RAW_TENANT, UNANSWERABLE, Conversation, Corpus, Question, filled_store
from evaluation.recall.expansions import Expander
from evaluation.recall.long_questions import in_more_words
from evaluation.recall.measures import Outcome, outcome_of, ranked_messages, summary
from evaluation.recall.memories import SCHEMA
from evaluation.recall.rejection import profile_rejection
from memory.records.wording import attributed_text
from models.embedding.tokens import count_tokens
from retrieval.request import RecallResponse
from runtime.settings import RankingProfile, Settings
from stores.port import TenantScope

PROFILES: Final[tuple[RankingProfile, ...]] = get_args(RankingProfile)
_BUDGETS: Final = (500, 1000, 2000)
_FIRST: Final = 10
_KEYWORD_QUOTA: Final = 3
"""Results from the keyword graph among the first ten, to measure the graph."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument("--profile", choices=PROFILES, default="learned", help="the profile of `overall`")
    parser.add_argument(
        "--aged-days", type=int, help="recall this many days after the last message, from timelines that have aged; default: nothing ages"
    )
    parser.add_argument("--ablation", action="store_true", help="also ask without each part of a recall in turn")
    parser.add_argument("--long-questions", action="store_true", help="also ask each question in more words")
    parser.add_argument("--expand", metavar="URL", help="also ask with `mode=expand`, with the model at this OpenAI-compatible address")
    parser.add_argument("--model", help="that model; default: VARVE_LLM__MODEL")
    parser.add_argument("--concurrency", type=int, default=8, help="its calls at once")
    parser.add_argument("--replies", type=Path, default=Path("build/expansion/replies.jsonl"), help="where its replies are kept")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Asks every question in every way, and returns the report."""
    return asyncio.run(_run(arguments))


async def _run(arguments: argparse.Namespace) -> dict[str, Any]:
    settings = Settings()
    async with filled_store(arguments.data, settings, with_raw_turns=True, aged_days=arguments.aged_days) as corpus:
        asked = [(conversation, question) for conversation in corpus.conversations for question in conversation.questions]
        profiles: dict[RankingProfile, list[RecallResponse]] = {}
        for profile in PROFILES:
            profiles[profile] = [await recalled(corpus, settings, *each, profile=profile) for each in asked]
        raw = [await recalled(corpus, settings, *each, profile=arguments.profile, tenant=RAW_TENANT) for each in asked]
        by_keywords = [
            await recalled(corpus, settings, *each, profile=arguments.profile, limit=_FIRST, keyword_quota=_KEYWORD_QUOTA) for each in asked
        ]
        expanded = await _expanded(corpus, settings, arguments, asked)
        long = await _in_more_words(corpus, settings, arguments, asked)
        baselines = [await _baselines(corpus, *each) for each in asked]
        chosen = profiles[arguments.profile]
        answerable = [index for index, (_, question) in enumerate(asked) if question.category != UNANSWERABLE]
        without: dict[str, Any] = {}
        if arguments.ablation:
            pairs = [asked[index] for index in answerable], [chosen[index] for index in answerable]
            without["ablation"] = await ablation(corpus, settings, *pairs, profile=arguments.profile)
        strangers = {profile: await _strangers(corpus, settings, asked, profile=profile) for profile in PROFILES}
    outcomes = [outcome_of(messages_of(answer), question.evidence) for (_, question), answer in zip(asked, chosen, strict=True)]
    absent = [index for index, (_, question) in enumerate(asked) if question.category == UNANSWERABLE]
    return {
        "data": arguments.data.name,
        "data_sha256": corpus.sha256,
        "pipeline": "in process, without Kafka; Qdrant Edge through its socket",
        "extractor": "offline",
        "schema": SCHEMA,
        "embedding": settings.embedding.model,
        "profile": arguments.profile,
        "memories": sum(each.memories for each in corpus.conversations),
        "aged_days": arguments.aged_days,
        "stored_tokens_to_raw": _stored_tokens_to_raw(corpus),
        "overall": summary([outcomes[index] for index in answerable]),
        "categories": _categories(asked, outcomes),
        "budgets": {str(budget): _within_budget([(asked[index][1], chosen[index]) for index in answerable], budget) for budget in _BUDGETS},
        "ways": {
            **{profile: _summary(asked, answers, answerable) for profile, answers in profiles.items()},
            **{name: summary([outcome_of(baselines[index][name], asked[index][1].evidence) for index in answerable]) for name in BASELINES},
            "keyword_graph": _summary(asked, by_keywords, answerable),
            "raw_turns": _summary(asked, raw, answerable),
            **({"expanded": _summary(asked, expanded, answerable)} if expanded else {}),
            **({"long_questions": _summary(asked, long, answerable)} if long else {}),
        },
        **without,
        "rejection": {
            profile: _rejection(profile, answers, strangers[profile], answerable=answerable, absent=absent)
            for profile, answers in profiles.items()
        },
    }


def _stored_tokens_to_raw(corpus: Corpus) -> float:
    stored = sum(each.stored_tokens for each in corpus.conversations)
    return round(stored / sum(each.raw_tokens for each in corpus.conversations), 4)


def _categories(asked: Sequence[Asked], outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """The summary of each category of questions."""
    by_category: dict[int, list[Outcome]] = {}
    for (_, question), outcome in zip(asked, outcomes, strict=True):
        by_category.setdefault(question.category, []).append(outcome)
    return {str(category): summary(by_category[category]) for category in sorted(by_category)}


def _rejection(
    profile: RankingProfile,
    answers: Sequence[RecallResponse],
    strangers: Sequence[RecallResponse],
    *,
    answerable: Sequence[int],
    absent: Sequence[int],
) -> dict[str, Any]:
    """How well the confidence of a profile separates answerable questions from others."""
    unanswerable = {"unanswerable": [answers[index] for index in absent], "of_another_user": strangers}
    return profile_rejection(profile, [answers[index] for index in answerable], unanswerable)


async def _expanded(corpus: Corpus, settings: Settings, arguments: argparse.Namespace, asked: Sequence[Asked]) -> list[RecallResponse]:
    if arguments.expand is None:
        return []
    expand = Expander(settings, url=arguments.expand, model=arguments.model, replies=arguments.replies, concurrency=arguments.concurrency)
    by_text = await expand.of(question.text for _, question in asked if question.category != UNANSWERABLE)
    return [await recalled(corpus, settings, *each, profile=arguments.profile, expansions=by_text.get(each[1].text, ())) for each in asked]


async def _in_more_words(corpus: Corpus, settings: Settings, arguments: argparse.Namespace, asked: Sequence[Asked]) -> list[RecallResponse]:
    if not arguments.long_questions:
        return []
    long = [(conversation, replace(question, text=in_more_words(question.text))) for conversation, question in asked]
    return [await recalled(corpus, settings, *each, profile=arguments.profile) for each in long]


async def _baselines(corpus: Corpus, conversation: Conversation, question: Question) -> dict[str, list[str]]:
    scope = TenantScope(TENANT, conversation.user)
    found = await baseline_rankings(corpus.store, corpus.embedder, scope, question.text)
    return {name: ranked_messages(each.message_ids for each in ranking) for name, ranking in found.items()}


async def _strangers(corpus: Corpus, settings: Settings, asked: Sequence[Asked], *, profile: RankingProfile) -> list[RecallResponse]:
    """The responses to each question when the next conversation is searched: its memories do not answer."""
    users = {each.user: index for index, each in enumerate(corpus.conversations)}
    if len(users) < 2:
        return []

    def next_of(conversation: Conversation) -> Conversation:
        return corpus.conversations[(users[conversation.user] + 1) % len(users)]

    answerable = [each for each in asked if each[1].category != UNANSWERABLE]
    return [await recalled(corpus, settings, next_of(conversation), question, profile=profile) for conversation, question in answerable]


def _summary(asked: Sequence[Asked], answers: Sequence[RecallResponse], chosen: Sequence[int]) -> dict[str, object]:
    return summary([outcome_of(messages_of(answers[index]), asked[index][1].evidence) for index in chosen])


def _within_budget(answered: Sequence[tuple[Question, RecallResponse]], budget: int) -> dict[str, float]:
    """The share of the evidence in the first results that fit into a number of tokens."""
    any_hit, whole, share = [], [], []
    for question, answer in answered:
        right, left, found = set(question.evidence), budget, set[str]()
        for hit in answer.hits:
            left -= count_tokens(attributed_text(hit.memory))
            if left < 0:
                break
            found |= right.intersection(hit.evidence)
        any_hit.append(bool(found))
        whole.append(found == right)
        share.append(len(found) / len(right))
    number = len(answered)
    return {
        "any_evidence": round(sum(any_hit) / number, 4),
        "all_evidence": round(sum(whole) / number, 4),
        "share_of_evidence": round(sum(share) / number, 4),
    }
