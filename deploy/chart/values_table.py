"""``helm/varve/README.md``: every value with its default and its meaning, from ``values.yaml``."""

import json
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import yaml

_MARK: Final = "# --"


class Value(NamedTuple):
    """One value."""

    path: str
    default: Any
    meaning: str


def readme_of(text: str) -> str:
    """The chart's README.

    Args:
        text: The content of ``values.yaml``.
    """
    lines = [
        "# Varve",
        "",
        "How to install the chart, and how it was checked: [docs/operate/install-kubernetes.md](../../docs/operate/install-kubernetes.md).",
        "This table is made from `values.yaml` by `make generated`; a test holds the two equal.",
        "",
        "```",
        "helm install varve helm/varve --set kafka.bootstrap=kafka:9092,redis.url=redis://redis:6379/0,qdrant.url=http://qdrant:6333",
        "```",
        "",
        "| value | default | meaning |",
        "|---|---|---|",
    ]
    lines += [f"| `{value.path}` | `{json.dumps(value.default)}` | {value.meaning} |" for value in values_of(text)]
    return "\n".join(lines) + "\n"


def values_of(text: str) -> Iterator[Value]:
    """The documented values of a YAML text, in its order. A comment that begins with ``# --`` documents the next key.

    Args:
        text: The content of ``values.yaml``, in block style down to each documented value.
    """
    defaults = yaml.safe_load(text)
    path: list[tuple[int, str]] = []
    meaning: list[str] = []
    for line in text.splitlines():
        words = line.strip()
        if words.startswith(_MARK):
            meaning = [words.removeprefix(_MARK).strip()]
        elif words.startswith("#"):
            if meaning:
                meaning.append(words.removeprefix("#").strip())
        elif ":" in words:
            indent = len(line) - len(line.lstrip())
            path = [*(each for each in path if each[0] < indent), (indent, words.split(":")[0])]
            if meaning:
                keys = [key for _, key in path]
                yield Value(".".join(keys), _at(defaults, keys), " ".join(meaning))
            meaning = []


def _at(values: Any, keys: list[str]) -> Any:
    for key in keys:
        values = values[key]
    return values
