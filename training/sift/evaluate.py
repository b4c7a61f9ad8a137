"""``python -m training sift evaluate``: quality, tokens and latency of proxies and of rankings without a model, on the test set.

Writes ``evaluation.json``, ``evaluation.md`` and ``evaluation.svg``: NDCG@1, 5 and 10, F1 and recall at 10 (MemSifter 4.5.1), the share
of valid answers, tokens and seconds per query. With ``--answers``, the working LLM answers from the ranked sessions, and the score of
its answers is the paper's end-to-end measure. An answer that a recall would reject or complete counts as a ranking without any session.
"""

import argparse
import asyncio
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any, Final

import orjson
from pydantic import BaseModel, ConfigDict

from evaluation.intervals import means_with_intervals
from runtime.settings import Settings
from training.plots import write_bars
from training.runs import Run, RunError
from training.sift.baselines import BASELINES, Baseline, Ranked, baseline_rankings
from training.sift.endpoints import EndpointModel, RankingModel, proxy_settings, working_settings
from training.sift.examples import TEST, Example, UserExamples
from training.sift.measures import MEASURES, measures_of
from training.sift.proxies import require_torch
from training.sift.reward import WORKING_ANSWERS, WORKING_TOKENS, proxy_cost, working_cost
from training.sift.rewarding import Rewarder, RewardOptions, Rollout
from training.sift.scoring import score
from training.sift.working_llm import EndpointWorkingLLM, WorkingLLM, WorkingTask

SUMMARY: Final = "measures proxies, BM25, cosine and the learned ranker on the test set"
ENDPOINT: Final = "endpoint"

Chosen = Sequence[tuple[UserExamples, Example]]


class Judged(BaseModel):
    """One query's ranking by one method."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    method: str
    ranking: tuple[int, ...]
    """Empty: the answer was unusable."""
    measures: dict[str, float]
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    answer_score: float | None = None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the step's own arguments."""
    help_of_proxy = f"a proxy model, which reasons; repeatable; {ENDPOINT!r} as FOLDER: the endpoint of VARVE_SIFT__*"
    parser.add_argument("--proxy", action="append", default=[], metavar="NAME=FOLDER", help=help_of_proxy)
    parser.add_argument("--direct", action="append", default=[], metavar="NAME=FOLDER", help="a proxy model that ranks without reasoning")
    parser.add_argument(
        "--baseline", action="append", choices=BASELINES, default=None, help="a ranking without a proxy; repeatable; default: all"
    )
    parser.add_argument("--answers", action="store_true", help="let the working LLM of VARVE_LLM__* answer from each ranking")
    parser.add_argument("--examples", type=int, default=None, metavar="N", help="only N queries, drawn by the seed; default: all")
    parser.add_argument("--sessions", type=int, default=10, choices=range(1, 16), metavar="K", help="sessions to rank")
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
    names = ("proxy", "direct", "baseline", "answers", "examples", "sessions", "max_tokens", "seed")
    folder.begin("evaluate", {**{name: getattr(arguments, name) for name in names}, "test": folder.digest(TEST)})
    proxies = [(*_named(each), True) for each in arguments.proxy] + [(*_named(each), False) for each in arguments.direct]
    chosen = judged_examples(folder, number=arguments.examples, seed=arguments.seed)
    working_model = None
    if arguments.answers:
        working_model = EndpointModel(
            working_settings(Settings()), replies=folder.folder / WORKING_ANSWERS, purpose="the working LLM", max_tokens=WORKING_TOKENS
        )
        yield working_cost(chosen, model=working_model.name, rollouts=len(proxies) + len(BASELINES))
    working = None if working_model is None else EndpointWorkingLLM(working_model)
    try:
        for name in arguments.baseline or BASELINES:
            yield from evaluate_baseline(folder, name, chosen, sessions=arguments.sessions, working=working)
        for name, place, reasoning in proxies:
            options = RewardOptions(sessions=arguments.sessions, reasoning=reasoning, max_tokens=arguments.max_tokens)
            model = _model(folder, place, arguments)
            try:
                if place == ENDPOINT:
                    yield proxy_cost(chosen, model=model.name, options=options, calls=1)
                yield from evaluate_proxy(folder, name, chosen, model, options=options, working=working)
            finally:
                model.close()
    finally:
        if working_model is not None:
            working_model.close()
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
    found = [(user, example) for user in run.read(TEST, UserExamples) for example in user.examples if example.gold]
    if not found:
        raise RunError(f"{run.folder / TEST} names no relevant session: there is nothing to measure")
    Random(seed).shuffle(found)
    return found[:number]


def evaluate_baseline(run: Run, name: Baseline, chosen: Chosen, *, sessions: int, working: WorkingLLM | None) -> Iterator[str]:
    """Judges a ranking without a proxy.

    Args:
        run: The run.
        name: The baseline.
        chosen: The examples.
        sessions: Number of sessions in a ranking.
        working: Answers from the rankings. None: no answers.
    """
    if not run.has(_file(name)):
        users = {user.user: user for user, _ in chosen}
        ids = frozenset(example.id for _, example in chosen)
        rankings = asyncio.run(baseline_rankings(list(users.values()), ids, [name]))[name]
        ranked = [(rankings[example.id][0][:sessions], rankings[example.id][1]) for _, example in chosen]
        run.write(_file(name), _judged(name, chosen, ranked, working))
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
    if not run.has(_file(name)):
        prompts = [user.prompt(example, most=options.sessions, reasoning=options.reasoning) for user, example in chosen]
        answers = [found[0] for found in model.answer_all(prompts)]
        parser = Rewarder(None, options.model_copy(update={"alpha": 0.0}))
        parsed = parser.rewards(
            [
                Rollout(user=user, example=example, text=each.text, thoughts=each.thoughts)
                for (user, example), each in zip(chosen, answers, strict=True)
            ]
        )
        ranked = [(reward.places, answer) for reward, answer in zip(parsed, answers, strict=True)]
        run.write(_file(name), _judged(name, chosen, ranked, working))
    yield from _line(run, name)


def write_report(run: Run, name: str) -> Iterator[str]:
    """Writes the figures of all methods that were judged as JSON, Markdown and SVG.

    Args:
        run: The run.
        name: The files' name.
    """
    methods = sorted((run.folder / "evaluation").glob("*.jsonl"), key=lambda path: path.stat().st_mtime_ns)
    figures = {path.stem: figures_of(list(run.read(_file(path.stem), Judged))) for path in methods}
    run.write_text(f"{name}.json", orjson.dumps(figures, option=orjson.OPT_INDENT_2).decode() + "\n")
    run.write_text(f"{name}.md", "\n".join(table(figures)) + "\n")
    write_bars(run, f"{name}.svg", title="Rankings of the test set", figures=figures, measures=MEASURES)
    yield from table(figures)


def answer_scores(run: Run, name: str) -> dict[str, float]:
    """The scores of the working LLM's answers from a method's rankings, by query.

    Args:
        run: The run.
        name: The method.
    """
    return {each.id: each.answer_score for each in run.read(_file(name), Judged) if each.answer_score is not None}


def figures_of(judged: Sequence[Judged]) -> dict[str, Any]:
    """Means over queries, with the 95 % intervals of the measures."""
    means = means_with_intervals([[each.measures[name] for name in MEASURES] for each in judged])
    scores = [each.answer_score for each in judged if each.answer_score is not None]
    return {
        "queries": len(judged),
        **{name: mean.value for name, mean in zip(MEASURES, means, strict=True)},
        **{f"{name}_interval": mean.interval for name, mean in zip(MEASURES, means, strict=True)},
        "valid": round(fmean(bool(each.ranking) for each in judged), 4),
        "answer_score": round(fmean(scores), 4) if scores else None,
        "prompt_tokens": round(fmean(each.prompt_tokens for each in judged), 1),
        "completion_tokens": round(fmean(each.completion_tokens for each in judged), 1),
        "seconds": round(fmean(each.seconds for each in judged), 4),
    }


def table(figures: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """The figures as a table in Markdown."""
    columns = (*MEASURES, "valid", "answer_score", "prompt_tokens", "completion_tokens", "seconds")
    yield f"| method | {' | '.join(columns)} |"
    yield "|---" * (len(columns) + 1) + "|"
    for method, each in figures.items():
        cells = ["" if each[name] is None else f"{each[name]:.3f}" if each[name] < 10 else f"{each[name]:.0f}" for name in columns]
        yield f"| {method} | {' | '.join(cells)} |"


def _judged(name: str, chosen: Chosen, ranked: Sequence[Ranked], working: WorkingLLM | None) -> list[Judged]:
    scores = _answer_scores(chosen, [ranking for ranking, _ in ranked], working)
    return [
        Judged(
            id=example.id,
            method=name,
            ranking=ranking,
            measures=measures_of(ranking, example.gold),
            prompt_tokens=answer.prompt_tokens,
            completion_tokens=answer.completion_tokens,
            seconds=round(answer.seconds, 5),
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
    figures = figures_of(list(run.read(_file(name), Judged)))
    run.record("evaluate", method=name, **figures)
    yield f"{name}: NDCG@5 {figures['ndcg_at_5']:.3f}, valid {figures['valid']:.0%}, {figures['queries']} queries"


def _file(name: str) -> str:
    return f"evaluation/{name}.jsonl"


def _named(text: str) -> tuple[str, str]:
    name, _, folder = text.partition("=")
    if not name or not folder or not name.replace("-", "").replace("_", "").isalnum():
        raise RunError(f"{text!r} is no NAME=FOLDER: a name has letters, digits, - and _")
    if name in BASELINES:
        raise RunError(f"a proxy cannot have the name of a baseline: {name!r}")
    return name, folder


def _model(run: Run, place: str, arguments: argparse.Namespace) -> RankingModel:
    if place == ENDPOINT:
        replies = run.folder / "proxy-answers.jsonl"
        return EndpointModel(proxy_settings(Settings()), replies=replies, purpose="the proxy", max_tokens=arguments.max_tokens)
    require_torch()
    from training.sift.local_model import LocalModel

    if not Path(place).is_dir():
        raise RunError(f"{place} is no folder of a model")
    return LocalModel(place, batch=arguments.batch, max_tokens=arguments.max_tokens, seed=arguments.seed)
