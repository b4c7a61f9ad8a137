"""``python -m evaluation compare``: what each memory method finds, stores and costs, on the same conversations and in one run.

The pure parts of the stages make the memories, without Kafka and without a model: an operator's question gets its outcome by rule. The
recall pipeline of the service answers the questions. A measured method is kept in a file, so that an interrupted run continues.
"""

import argparse
import asyncio
import hashlib
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import orjson

from evaluation.compare.conversations import Dialogue, digest_of, read_dialogues
from evaluation.compare.measuring import measured
from evaluation.compare.report import markdown, plot
from memory.schema import MemorySchema, scenario, scenario_names, to_json
from memory.schema.methods import load_method, method_document, method_names, with_method
from runtime.settings import Settings

_BUDGET: Final = 1000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's own arguments."""
    parser.add_argument(
        "--methods", default="all", help="names of shipped methods or paths of documents, with commas; default: all shipped"
    )
    parser.add_argument("--schema", choices=scenario_names(), default="companion", help="the memory types that each method extends")
    parser.add_argument("--conversations", type=int, help="how many conversations to read; default: all")
    parser.add_argument("--budget", type=int, default=_BUDGET, help="most tokens of a packed context; default: %(default)s")
    parser.add_argument(
        "--aged-days", type=int, default=0, help="ask this many days after the last message; -1: timelines never age; default: 0"
    )
    parser.add_argument("--kept", type=Path, default=Path("build/compare/methods.jsonl"), help="where measured methods are kept")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Prints the plan, measures each method that is not kept yet, and returns the report."""
    settings, base = Settings(), scenario(arguments.schema)
    documents = {str(document["Method"]): document for document in map(_document, _names(arguments.methods))}
    schemas = {name: with_method(base, document) for name, document in documents.items()}
    dialogues = read_dialogues(arguments.data, limit=arguments.conversations)
    setting = {
        "data_sha256": digest_of(arguments.data),
        "conversations": len(dialogues),
        "budget": arguments.budget,
        "aged_days": arguments.aged_days,
        "embedding": settings.embedding.model,
        "profile": settings.recall.profile,
    }
    kept = _Kept(arguments.kept)
    keys = {name: _key(schema, setting) for name, schema in schemas.items()}
    questions = sum(each.questions for each in dialogues)
    _say(f"{len(schemas)} methods, {len(dialogues)} conversations, {questions} questions; calls of a model: 0, tokens: 0")
    _say(f"measured already: {', '.join(name for name, key in keys.items() if key in kept.found) or 'none'}")
    for name, schema in schemas.items():
        if keys[name] not in kept.found:
            _say(f"measuring {name}")
            kept.add(keys[name], asyncio.run(_measured(schema, dialogues, settings, arguments)))
    report: dict[str, Any] = {
        "data": arguments.data.name,
        **setting,
        "schema": arguments.schema,
        "questions": questions,
        "setting": "In process, without Kafka and without a model; Qdrant Edge behind its socket",
        "methods": {name: {"description": documents[name].get("Description", ""), **kept.found[key]} for name, key in keys.items()},
    }
    report["markdown"] = markdown(report)
    arguments.report.parent.mkdir(parents=True, exist_ok=True)
    arguments.report.with_suffix(".md").write_text(report["markdown"])
    arguments.report.with_suffix(".svg").write_text(plot(report))
    return report


async def _measured(schema: MemorySchema, dialogues: list[Dialogue], settings: Settings, arguments: argparse.Namespace) -> dict[str, Any]:
    return await measured(
        schema, dialogues, settings, budget=arguments.budget, aged_days=None if arguments.aged_days < 0 else arguments.aged_days
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
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("ab") as file:
            # The newline in front ends a line that a kill cut off.
            file.write(b"\n" + orjson.dumps({"key": key, "figures": figures}) + b"\n")
        self.found[key] = figures


def _key(schema: MemorySchema, setting: Mapping[str, Any]) -> str:
    content = orjson.dumps([to_json(schema), setting], option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(content).hexdigest()


def _names(given: str) -> list[str]:
    return list(method_names()) if given == "all" else list(dict.fromkeys(each.strip() for each in given.split(",") if each.strip()))


def _document(name: str) -> dict[str, Any]:
    path = Path(name)
    return load_method(path) if path.suffix == ".json" and path.is_file() else method_document(name)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
