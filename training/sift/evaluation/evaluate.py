"""``python -m training sift evaluate``: quality, tokens and latency of proxies and of other rankings, on the test set.

Writes ``evaluation.json``, ``evaluation.md`` and ``evaluation.svg``: NDCG@1, 5 and 10, F1 and recall at 10 (MemSifter 4.5.1), the share
of valid answers, tokens and seconds per query. ``--expand`` adds the ranking of a recall with ``mode=expand``. With ``--answers``, a model
answers each query from the sessions that each method ranked first, and a judge labels the answers: the paper's end-to-end measure. The
step prints what the models can cost before it asks one. A proxy's answer that a recall would reject or complete counts as no ranking.
"""

import argparse
import asyncio
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from evaluation.cached_llm import endpoint_settings
from retrieval.query.expansion import PURPOSE as EXPANSION
from runtime.settings import Settings
from training.runs import Run, RunError
from training.sift.data.examples import TEST, Chosen, Example, UserExamples, drawn_examples
from training.sift.evaluation.answering import AnswersAndJudge, answer_and_judge
from training.sift.evaluation.baselines import (
    BASELINES,
    EXPAND,
    Expansion,
    Method,
    Ranked,
    baseline_rankings,
    expansion_cost,
    expansions_of,
)
from training.sift.evaluation.report import Judged, figures_of, file_of, write_report
from training.sift.models.endpoints import EndpointModel, RankingModel, proxy_settings, working_settings
from training.sift.models.proxies import require_torch
from training.sift.rewards.measures import measures_of
from training.sift.rewards.reward import proxy_cost
from training.sift.rewards.rewarding import Rewarder, RewardOptions, Rollout
from training.sift.rewards.scoring import score
from training.sift.rewards.working_llm import WorkingLLM, WorkingTask

SUMMARY: Final = "measures proxies, BM25, cosine and the learned ranker on the test set"
ENDPOINT: Final = "endpoint"
EXPANSIONS: Final = "expansion-answers.jsonl"
_CONFIG: Final = (
    "proxy",
    "direct",
    "baseline",
    "expand",
    "answers",
    "answer_sessions",
    "judge",
    "judge_model",
    "examples",
    "sessions",
    "max_tokens",
    "seed",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the step's own arguments."""
    help_of_proxy = f"a proxy model, which reasons; repeatable; {ENDPOINT!r} as FOLDER: the endpoint of VARVE_SIFT__*"
    parser.add_argument("--proxy", action="append", default=[], metavar="NAME=FOLDER", help=help_of_proxy)
    parser.add_argument("--direct", action="append", default=[], metavar="NAME=FOLDER", help="a proxy model that ranks without reasoning")
    parser.add_argument(
        "--baseline", action="append", choices=BASELINES, default=None, help="a ranking without a model; repeatable; default: all"
    )
    parser.add_argument("--expand", action="store_true", help="also rank as mode=expand does, with the model of VARVE_LLM__*")
    parser.add_argument(
        "--answers", action="store_true", help="let the model of VARVE_LLM__* answer from each ranking, and judge the answers"
    )
    parser.add_argument(
        "--answer-sessions", type=int, default=3, choices=range(1, 16), metavar="K", help="sessions to answer from; default: %(default)s"
    )
    parser.add_argument("--judge", metavar="URL", help="address of the model that judges; default: the one that answers")
    parser.add_argument("--judge-model", metavar="NAME", help="its model; default: the one that answers")
    parser.add_argument("--judge-key", metavar="VARIABLE", help="the environment's variable with its API key; default: the same key")
    parser.add_argument("--examples", type=int, default=None, metavar="N", help="only N queries, drawn by the seed; default: all")
    parser.add_argument(
        "--sessions", type=int, default=10, choices=range(1, 16), metavar="K", help="sessions to rank; default: %(default)s"
    )
    parser.add_argument("--max-tokens", type=int, default=1024, help="longest answer; default: %(default)s")
    parser.add_argument("--batch", type=int, default=8, help="prompts at once; default: %(default)s")
    parser.add_argument("--seed", type=int, default=7, help="seed of the choice; default: %(default)s")


def run(arguments: argparse.Namespace) -> Iterator[str]:
    """Evaluates. Yields lines for the terminal.

    Raises:
        RunError: If the step ``data`` is missing, or the arguments differ from those with which this step began.
        EvaluationError: If a needed endpoint is not configured.
        ModelError: If an endpoint does not answer. The step can be continued.
    """
    folder = Run(arguments.run)
    proxies = [_proxy(each, True, arguments) for each in arguments.proxy] + [_proxy(each, False, arguments) for each in arguments.direct]
    folder.begin("evaluate", {**{name: getattr(arguments, name) for name in _CONFIG}, "test": folder.digest(TEST)})
    chosen = judged_examples(folder, number=arguments.examples, seed=arguments.seed)
    rankers: list[Method] = list(arguments.baseline or BASELINES)
    if arguments.expand:
        rankers.append(EXPAND)
    methods = [*rankers, *(each.name for each in proxies)]
    with ExitStack() as open_models:
        expanding = answering = None
        if arguments.expand:
            expanding = _expanding_model(folder)
            open_models.callback(expanding.close)
            yield "Expansions. " + expansion_cost(chosen, model=expanding.name)
        if arguments.answers:
            answering = _answering_models(folder, arguments)
            open_models.callback(answering.close)
            yield from answering.costs(chosen, methods=len(methods), sessions=arguments.answer_sessions)
        for proxy in proxies:
            if proxy.place == ENDPOINT:
                yield f"Rankings of {proxy.name}. " + proxy_cost(
                    chosen, model=proxy_settings(Settings()).llm.model, options=proxy.options, calls=1
                )
        expansions = {} if expanding is None else expansions_of([example.query for _, example in chosen], expanding)
        yield from evaluate_baselines(folder, rankers, chosen, sessions=arguments.sessions, expansions=expansions)
        for proxy in proxies:
            with closing(_model(folder, proxy.place, arguments)) as model:
                yield from evaluate_proxy(folder, proxy.name, chosen, model, options=proxy.options, working=None)
        if answering is not None:
            yield from answer_and_judge(folder, methods, chosen, answering, sessions=arguments.answer_sessions)
    yield from write_report(folder, "evaluation")


def judged_examples(run: Run, *, number: int | None, seed: int) -> list[tuple[UserExamples, Example]]:
    """Examples of the test set with known relevant sessions, in a drawn order.

    Args:
        run: The run.
        number: Most examples. None: all.
        seed: Seed of the order.

    Raises:
        RunError: If there is none.
    """
    found = drawn_examples(run, TEST, lambda each: bool(each.gold), seed=seed)
    if not found:
        raise RunError(f"{run.folder / TEST} names no relevant session: there is nothing to measure")
    return found[:number]


def evaluate_baselines(
    run: Run,
    names: Sequence[Method],
    chosen: Chosen,
    *,
    sessions: int,
    working: WorkingLLM | None = None,
    expansions: Mapping[str, Expansion] = MappingProxyType({}),
) -> Iterator[str]:
    """Judges rankings without a proxy.

    Args:
        run: The run.
        names: The methods.
        chosen: The examples.
        sessions: Number of sessions in a ranking.
        working: Answers from the rankings. None: no answers.
        expansions: By query, the sentences for :data:`training.sift.evaluation.baselines.EXPAND`.
    """
    missing = [name for name in names if not run.has(file_of(name))]
    if missing:
        users = {user.user: user for user, _ in chosen}
        ids = frozenset(example.id for _, example in chosen)
        rankings = asyncio.run(baseline_rankings(list(users.values()), ids, missing, expansions))
        for name in missing:
            ranked = [(rankings[name][example.id][0][:sessions], rankings[name][example.id][1]) for _, example in chosen]
            run.write(file_of(name), _judged(name, chosen, ranked, working))
    for name in names:
        yield from _line(run, name)


def evaluate_proxy(
    run: Run, name: str, chosen: Chosen, model: RankingModel, *, options: RewardOptions, working: WorkingLLM | None
) -> Iterator[str]:
    """Judges the rankings of a proxy.

    Args:
        run: The run.
        name: The proxy's name in the report.
        chosen: The examples.
        model: The proxy.
        options: The form of its answers.
        working: Answers from the rankings. None: no answers.
    """
    if not run.has(file_of(name)):
        prompts = [options.prompt(*each) for each in chosen]
        answers = [found[0] for found in model.answer_all(prompts)]
        parser = Rewarder(None, options.model_copy(update={"alpha": 0.0}))
        parsed = parser.rewards([Rollout.of(*each, answer) for each, answer in zip(chosen, answers, strict=True)])
        ranked = [(reward.places, answer) for reward, answer in zip(parsed, answers, strict=True)]
        run.write(file_of(name), _judged(name, chosen, ranked, working))
    yield from _line(run, name)


def _judged(name: str, chosen: Chosen, ranked: Sequence[Ranked], working: WorkingLLM | None) -> list[Judged]:
    scores = _answer_scores(chosen, [ranking for ranking, _ in ranked], working)
    return [
        Judged(
            id=example.id,
            method=name,
            ranking=ranking,
            measures=measures_of(ranking, example.gold),
            prompt_tokens=answer.usage.prompt_tokens,
            completion_tokens=answer.usage.completion_tokens,
            seconds=round(answer.latency_ms / 1000, 5),
            answer_score=answer_score,
        )
        for (_, example), (ranking, answer), answer_score in zip(chosen, ranked, scores, strict=True)
    ]


def _answer_scores(chosen: Chosen, rankings: Sequence[tuple[int, ...]], working: WorkingLLM | None) -> list[float | None]:
    if working is None:
        return [None] * len(chosen)
    tasks = []
    for (user, example), ranking in zip(chosen, rankings, strict=True):
        lines = {each.name: each.lines for each in user.sessions}
        shown = tuple(lines[example.sessions[place]] for place in sorted(ranking))
        tasks.append(WorkingTask(query=example.query, sessions=shown, right=example.answer))
    return [score(answer, task.right) if task.right else None for answer, task in zip(working.answers(tasks), tasks, strict=True)]


def _line(run: Run, name: str) -> Iterator[str]:
    figures = figures_of(list(run.read(file_of(name), Judged)))
    run.record("evaluate", method=name, **figures)
    yield f"{name}: NDCG@5 {figures['ndcg_at_5']:.3f}, valid {figures['valid']:.0%}, {figures['queries']} queries"


@dataclass(frozen=True, slots=True)
class _Proxy:
    name: str
    place: str
    options: RewardOptions


def _proxy(text: str, reasoning: bool, arguments: argparse.Namespace) -> _Proxy:
    name, _, place = text.partition("=")
    if not name or not place or not name.replace("-", "").replace("_", "").isalnum():
        raise RunError(f"{text!r} is no NAME=FOLDER: a name has letters, digits, - and _")
    if name in (*BASELINES, EXPAND):
        raise RunError(f"a proxy cannot have the name of a baseline: {name!r}")
    return _Proxy(name, place, RewardOptions(sessions=arguments.sessions, reasoning=reasoning, max_tokens=arguments.max_tokens))


def _expanding_model(run: Run) -> EndpointModel:
    settings = Settings()
    return EndpointModel(
        working_settings(settings),
        replies=run.folder / EXPANSIONS,
        purpose=EXPANSION,
        max_tokens=settings.expansion.max_completion_tokens,
    )


def _answering_models(run: Run, arguments: argparse.Namespace) -> AnswersAndJudge:
    answering = working_settings(Settings())
    judging = endpoint_settings(
        answering,
        url=arguments.judge,
        model=arguments.judge_model,
        api_key=os.environ.get(arguments.judge_key) if arguments.judge_key else None,
        concurrency=answering.llm.concurrency,
    )
    return AnswersAndJudge(run, answering=answering, judging=judging)


def _model(run: Run, place: str, arguments: argparse.Namespace) -> RankingModel:
    if place == ENDPOINT:
        replies = run.folder / "proxy-answers.jsonl"
        return EndpointModel(proxy_settings(Settings()), replies=replies, purpose="the proxy", max_tokens=arguments.max_tokens)
    require_torch()
    from training.sift.models.local_model import LocalModel

    if not Path(place).is_dir():
        raise RunError(f"{place} is no folder of a model")
    return LocalModel(place, batch=arguments.batch, max_tokens=arguments.max_tokens, seed=arguments.seed)
