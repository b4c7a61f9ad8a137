"""Rankings and answers of methods, query by query, and the report of them as JSON, Markdown and SVG."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any, Final

import orjson
from pydantic import BaseModel, ConfigDict

from evaluation import markdown
from evaluation.intervals import mean_with_interval, named_means
from training.plots import write_bars
from training.runs import Run
from training.sift.rewards.measures import MEASURES

_ANSWERS: Final = ("answer_score", "correct")
"""Measures of answers, which not every query has."""
_SPENT: Final = ("prompt_tokens", "completion_tokens", "seconds")


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
    answer: str | None = None
    """The working LLM's answer from the first sessions. None: it was not asked."""
    answer_score: float | None = None
    """The answer's score by its words. None: without an answer, or the right one is unknown."""
    correct: bool | None = None
    """The judge's label of the answer. None: it was not judged."""


def file_of(name: str) -> str:
    """The file with a method's results."""
    return f"evaluation/{name}.jsonl"


def write_report(run: Run, name: str) -> Iterator[str]:
    """Writes the figures of all methods that were judged as JSON, Markdown and SVG. Yields the table.

    Args:
        run: The run.
        name: The files' name.
    """
    methods = sorted((run.folder / "evaluation").glob("*.jsonl"), key=lambda path: path.stat().st_mtime_ns)
    figures = {path.stem: figures_of(list(run.read(file_of(path.stem), Judged))) for path in methods}
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
    return {each.id: each.answer_score for each in run.read(file_of(name), Judged) if each.answer_score is not None}


def figures_of(judged: Sequence[Judged]) -> dict[str, Any]:
    """Means over queries, with the 95 % intervals of the measures. A measure of answers is None without any."""
    figures: dict[str, Any] = {
        "queries": len(judged),
        **named_means(MEASURES, [[each.measures[name] for name in MEASURES] for each in judged]),
        "valid": round(fmean(bool(each.ranking) for each in judged), 4),
        "judged_answers": sum(each.correct is not None for each in judged),
    }
    for name in _ANSWERS:
        found = [float(value) for each in judged if (value := getattr(each, name)) is not None]
        mean = mean_with_interval(found) if found else None
        figures[name] = None if mean is None else mean.value
        figures[f"{name}_interval"] = None if mean is None else mean.interval
    return figures | {name: round(fmean(getattr(each, name) for each in judged), 4) for name in _SPENT}


def table(figures: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The figures as a table in Markdown. Measures have their 95 % intervals in brackets."""
    columns = (*MEASURES, "valid", *_ANSWERS, *_SPENT)
    return markdown.table(("method", *columns), ((method, *(_cell(each, name) for name in columns)) for method, each in figures.items()))


def _cell(figures: Mapping[str, Any], name: str) -> str:
    value = figures[name]
    if value is None:
        return ""
    text = f"{value:.3f}" if value < 10 else f"{value:.0f}"
    interval = figures.get(f"{name}_interval")
    return text if interval is None else f"{text} [{interval[0]:.3f}, {interval[1]:.3f}]"
