"""``python -m evaluation compare``: what each memory method finds, answers, stores and costs, on the same conversations and in one run.

The logic of the stages makes the memories, without Kafka, and the recall pipeline of the service answers the questions. First each method
is measured without a model: operators decide by rule, and the tokens that a model would take are estimated from the prompts. These figures
are the estimate of a run with a model (``--endpoint``), which starts only with ``--yes``. Figures and replies are kept in files, so that an
interrupted run continues.
"""

import argparse
import asyncio
import hashlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

import orjson

from evaluation.cached_llm import KeptLLM, KeptReplies, endpoint_settings
from evaluation.compare.answering import Models
from evaluation.compare.conversations import Dialogue, first_sessions
from evaluation.compare.formats.detection import DataSet, digest_of, read_data
from evaluation.compare.formats.longmemeval import dialogues_of
from evaluation.compare.measuring import measured
from evaluation.compare.plots import plots
from evaluation.compare.report import markdown
from evaluation.compare.variants import PLACES, SCALES, moved, scaled
from evaluation.errors import DataSetError
from evaluation.qa.calls import Model
from memory.schema import MemorySchema, scenario, scenario_names, to_json
from memory.schema.methods import load_method, method_document, method_names, with_method
from models.llm.port import LLMUsage
from models.llm.usage import PriceTable
from runtime.file_digest import files_sha256
from runtime.settings import Settings

_BUDGET: Final = 1000
_METHODS_AT_ONCE: Final = 4
"""Methods that a model works for at the same time. Each has a store process and a copy of the embedding model."""
_MEASURED_CODE: Final = ("evaluation", "extraction", "memory", "models", "operators", "retrieval", "runtime", "stores", "streams")
"""Packages that figures depend on."""


@dataclass(frozen=True, slots=True)
class _Part:
    """Conversations that are measured together: the data set, or a variant of it."""

    kind: Literal["data", "scale", "place"]
    name: str
    dialogues: Sequence[Dialogue]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's own arguments."""
    parser.add_argument(
        "--methods", default="all", help="names of shipped methods or paths of documents, with commas; default: all shipped"
    )
    parser.add_argument("--schema", choices=scenario_names(), default="companion", help="the memory types that each method extends")
    parser.add_argument("--conversations", type=int, help="how many conversations to read; default: all")
    parser.add_argument(
        "--sessions",
        type=_at_least_one,
        help="read only this many sessions of each conversation, and the questions that they answer; default: all",
    )
    parser.add_argument("--budget", type=int, default=_BUDGET, help="most tokens of a packed context; default: %(default)s")
    parser.add_argument(
        "--aged-days", type=int, default=0, help="ask this many days after the last message; -1: timelines never age; default: 0"
    )
    parser.add_argument(
        "--variants",
        choices=("none", "scale", "place", "all"),
        default="none",
        help="also measure LongMemEval with histories of 50, 150 and 200 %%, or with the evidence early, in the middle and late",
    )
    parser.add_argument("--endpoint", help="OpenAI-compatible address of a model that extracts, manages and answers; default: no model")
    parser.add_argument("--model", help="its name; default: VARVE_LLM__MODEL")
    parser.add_argument("--yes", action="store_true", help="ask the model; without it, a run with --endpoint ends with the estimated cost")
    parser.add_argument("--concurrency", type=int, default=8, help="concurrent calls of the model; default: %(default)s")
    parser.add_argument("--max-tokens", type=int, default=400, help="longest answer to a question; default: %(default)s")
    parser.add_argument("--replies", type=Path, default=Path("build/compare/replies.jsonl"), help="where replies of the model are kept")
    parser.add_argument("--kept", type=Path, default=Path("build/compare/methods.jsonl"), help="where measured methods are kept")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Prints the plan, measures each method that is not kept yet, and returns the report."""
    settings, base = Settings(), scenario(arguments.schema)
    documents = {str(document["Method"]): document for document in map(_document, _names(arguments.methods))}
    schemas = {name: with_method(base, document) for name, document in documents.items()}
    data = _first(read_data(arguments.data, limit=arguments.conversations), arguments.sessions)
    parts, left_out = _parts(data, arguments.variants, arguments.sessions)
    setting = {
        "data_sha256": digest_of(arguments.data),
        "conversations": len(data.dialogues),
        "sessions": arguments.sessions,
        "budget": arguments.budget,
        "aged_days": arguments.aged_days,
        "embedding": settings.embedding.model,
        "profile": settings.recall.profile,
    }
    questions = sum(each.questions for each in data.dialogues)
    kept = _Kept(arguments.kept)
    _say(f"{len(schemas)} methods, {data.format}: {len(data.dialogues)} conversations, {questions} questions; {len(parts)} data sets")
    by_rule = asyncio.run(_Measuring(kept, schemas, settings, setting, arguments, model=None).all(parts))
    report: dict[str, Any] = {
        "data": arguments.data.name,
        "format": data.format,
        **setting,
        "schema": arguments.schema,
        "questions": questions,
        "setting": "In process, without Kafka; Qdrant Edge with its socket",
        "descriptions": {name: document.get("Description", "") for name, document in documents.items()},
        "variants": [{"kind": each.kind, "name": each.name} for each in parts if each.kind != "data"],
        "variants_left_out": left_out,
        "methods": by_rule[parts[0].name],
        "by_variant": {each.name: by_rule[each.name] for each in parts if each.kind != "data"},
    }
    if arguments.endpoint is not None:
        asked = endpoint_settings(settings, url=arguments.endpoint, model=arguments.model, concurrency=arguments.concurrency)
        report |= {"model": asked.llm.model, "estimate": estimated([*by_rule.values()], asked)}
        _say(report["estimate"]["text"])
        if arguments.yes:
            by_model = asyncio.run(_Measuring(kept, schemas, settings, setting, arguments, model=asked).all(parts))
            report["with_model"] = by_model[parts[0].name]
            report["with_model_by_variant"] = {each.name: by_model[each.name] for each in parts if each.kind != "data"}
        else:
            _say("The model was not asked: add --yes to ask it.")
    report["markdown"] = markdown(report)
    arguments.report.parent.mkdir(parents=True, exist_ok=True)
    arguments.report.with_suffix(".md").write_text(report["markdown"])
    for name, svg in plots(report).items():
        arguments.report.with_name(f"{arguments.report.stem}-{name}.svg").write_text(svg)
    return report


def estimated(figures: Sequence[Mapping[str, Any]], settings: Settings) -> dict[str, Any]:
    """Calls, tokens and cost of a run with a model, without kept replies.

    Args:
        figures: The figures without a model, by method, of each data set.
        settings: The model and its prices.
    """
    each_method = [one for by_method in figures for one in by_method.values()]
    answered = [one["overall"]["questions"] * one["query"]["model_calls"] for one in each_method]
    usage = LLMUsage(
        prompt_tokens=sum(one[part]["prompt_tokens"] for one in each_method for part in ("ingestion", "query")),
        completion_tokens=sum(one[part]["completion_tokens"] for one in each_method for part in ("ingestion", "query")),
    )
    calls = sum(one["ingestion"]["model_calls"] for one in each_method) + round(sum(answered))
    prices = PriceTable.load(settings.llm.price_table)
    cost = round(prices.cost(settings.llm.model, usage), 4) if prices else None
    shown = "cost unknown: set VARVE_LLM__PRICE_TABLE" if cost is None else f"cost about {cost}"
    return {
        "calls": calls,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "cost": cost,
        "text": f"Model {settings.llm.model}: about {calls:,} calls, {usage.prompt_tokens:,} + {usage.completion_tokens:,} tokens; {shown}",
    }


class _Measuring:
    """Measures methods, with a model or without, and keeps the figures.

    Without a model, methods are measured one after the other, so that their times can be compared.
    """

    def __init__(
        self,
        kept: "_Kept",
        schemas: Mapping[str, MemorySchema],
        settings: Settings,
        setting: Mapping[str, Any],
        given: argparse.Namespace,
        *,
        model: Settings | None,
    ) -> None:
        self._kept = kept
        self._schemas = schemas
        self._settings = settings
        self._setting = setting
        self._given = given
        self._model = model
        self._replies = None if model is None else KeptReplies(given.replies)
        self._calls = asyncio.Semaphore(given.concurrency)
        self._at_once = asyncio.Semaphore(1 if model is None else _METHODS_AT_ONCE)

    async def all(self, parts: Sequence[_Part]) -> dict[str, dict[str, Any]]:
        """The figures of each method by data set."""
        return {part.name: dict(await asyncio.gather(*(self._one(part, name) for name in self._schemas))) for part in parts}

    async def _one(self, part: _Part, name: str) -> tuple[str, dict[str, Any]]:
        schema, model = self._schemas[name], self._model
        about = {**self._setting, "part": part.name, "model": None if model is None else [model.llm.base_url, model.llm.model]}
        content = orjson.dumps([_code_digest(), to_json(schema), about], option=orjson.OPT_SORT_KEYS)
        key = hashlib.sha256(content).hexdigest()
        if key in self._kept.found:
            return name, self._kept.found[key]
        async with self._at_once:
            _say(f"measuring {name}{'' if part.kind == 'data' else f', {part.name}'}{'' if model is None else f' with {model.llm.model}'}")
            figures = await self._measured(schema, part.dialogues)
        if figures["query"]["unanswered"]:
            _say(f"{name}: the model did not answer {figures['query']['unanswered']} questions; run again to ask them")
        else:
            self._kept.add(key, figures)
        return name, figures

    async def _measured(self, schema: MemorySchema, dialogues: Sequence[Dialogue]) -> dict[str, Any]:
        aged, models = None if self._given.aged_days < 0 else self._given.aged_days, self._models()
        settings = self._model or self._settings
        try:
            return await measured(schema, dialogues, settings, budget=self._given.budget, aged_days=aged, models=models)
        finally:
            if models is not None:
                await models.close()

    def _models(self) -> Models | None:
        settings, kept, turn, longest = self._model, self._replies, self._calls, self._given.max_tokens
        if settings is None or kept is None:
            return None
        return Models(
            ingesting=KeptLLM(settings, kept=kept, purpose="ingestion", turn=turn),
            answering=Model(settings, kept=kept, purpose="qa", max_tokens=longest, turn=turn),
            simplifying=Model(settings, kept=kept, purpose="simplification", max_tokens=longest, turn=turn),
        )


class _Kept:
    """Figures of measured methods in a file, one line each. A line that a kill cut off is ignored."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.found: dict[str, dict[str, Any]] = {}
        for line in path.read_bytes().splitlines() if path.is_file() else ():
            try:
                entry = orjson.loads(line)
            except orjson.JSONDecodeError:
                continue
            self.found[entry["key"]] = entry["figures"]

    def add(self, key: str, figures: dict[str, Any]) -> None:
        """Keeps the figures of a key."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("ab") as file:
            # The newline in front ends a line that a kill cut off.
            file.write(b"\n" + orjson.dumps({"key": key, "figures": figures}) + b"\n")
        self.found[key] = figures


@cache
def _code_digest() -> str:
    """A digest of the code that figures depend on: figures of other code are measured again."""
    root = Path(__file__).parents[2]
    files = sorted(each for package in _MEASURED_CODE for each in (root / package).rglob("*.py"))
    return files_sha256(files)


def _first(data: DataSet, sessions: int | None) -> DataSet:
    """The data with the first sessions of each conversation.

    Raises:
        DataSetError: If no question remains.
    """
    if sessions is None:
        return data
    dialogues = [first_sessions(each, sessions) for each in data.dialogues]
    if not any(each.questions for each in dialogues):
        raise DataSetError(f"no question of {data.format} is answered by the first {sessions} sessions: give --sessions a higher number")
    return replace(data, dialogues=dialogues)


def _at_least_one(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, is {number}")
    return number


def _parts(data: DataSet, wanted: str, sessions: int | None) -> tuple[list[_Part], dict[str, str]]:
    """The data sets to measure, and by variant the reason why it was left out."""
    parts, left_out = [_Part("data", "data", data.dialogues)], dict[str, str]()
    if wanted == "none":
        return parts, left_out
    if sessions is not None:
        raise DataSetError("--variants changes whole histories: it cannot be combined with --sessions")
    if data.format != "LongMemEval":
        raise DataSetError(f"--variants needs data in LongMemEval's form, and this is {data.format}")
    if wanted in ("scale", "all"):
        for percent in SCALES:
            name = f"{percent} %"
            try:
                parts.append(_Part("scale", name, dialogues_of(scaled(data.questions, percent))))
            except DataSetError as error:
                left_out[name] = str(error)
                _say(f"left out: {error}")
    if wanted in ("place", "all"):
        parts += [_Part("place", place, dialogues_of(moved(data.questions, place))) for place in PLACES]
    return parts, left_out


def _names(given: str) -> list[str]:
    return list(method_names()) if given == "all" else list(dict.fromkeys(each.strip() for each in given.split(",") if each.strip()))


def _document(name: str) -> dict[str, Any]:
    path = Path(name)
    return load_method(path) if path.suffix == ".json" and path.is_file() else method_document(name)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
