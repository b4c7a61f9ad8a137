"""Checks the prose of docs, docstrings and help texts against the word lists in ``.vale/styles/Varve``.

The lists have Vale's form, so an editor with Vale shows the same findings. This reader needs Python only, and also reads docstrings.

    python -m deploy.prose [PATH ...]      default: every path that `CHECKED` names
"""

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import yaml

ROOT: Final = Path(__file__).parents[1]
STYLES: Final = ROOT / ".vale" / "styles" / "Varve"
CHECKED: Final = (
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "README.md",
    "SECURITY.md",
    "api",
    "benchmarks",
    "client",
    "control",
    "deploy",
    "deploy/prometheus/rules",
    "docs",
    "evaluation",
    "examples",
    "loadtest",
    "extraction",
    "helm/varve",
    "methods",
    "integrations",
    "memory",
    "models",
    "operators",
    "retrieval",
    "runtime",
    "stores",
    "streams",
    "training",
    "tests",
    "varve",
)
"""Files and folders whose prose is checked by default."""
NOT_CHECKED: Final = ROOT / "extraction" / "offline"
"""Its comments quote what people write; check its files by naming them."""

_HELP: Final = frozenset({"help", "description", "short_help", "epilog"})
_PATTERNS: Final = frozenset({"compile", "search", "match", "fullmatch", "findall", "finditer", "sub", "split"})
"""Methods whose arguments are patterns or lists of words."""
_LANGUAGE_DATA: Final = frozenset({"extraction", "tests"})
"""Folders whose strings are mostly words that people write."""
_FEWEST_WORDS: Final = 4
"""A string with fewer words is seldom a sentence."""
_CODE_BLOCK: Final = re.compile(r"^(```|~~~).*?^\1\s*$", re.MULTILINE | re.DOTALL)
_YAML_PROSE: Final = re.compile(r"(?:^|\s)#\s.*|^\s*(?:summary|description):.*")
_NO_PROSE: Final = re.compile(r"`+[^`]*`+|\]\([^)]*\)|https?://\S+|<!--.*?-->", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Rule:
    """One pattern of a style.

    Args:
        pattern: What must not occur.
        message: What the author should do, with ``%s`` for the replacement (if there is one) and for the words that were found.
        replacement: What to write instead; empty if the style names nothing.
        in_summary: Whether the pattern counts only at the start of a docstring.
    """

    pattern: re.Pattern[str]
    message: str
    replacement: str
    in_summary: bool

    def findings(self, text: str) -> Iterator[tuple[int, str]]:
        """The offset and the message of each finding in a text."""
        starts = [self.pattern.match(text.lstrip())] if self.in_summary else self.pattern.finditer(text)
        for found in starts:
            if found is not None:
                words = (self.replacement, found[0]) if self.replacement else (found[0],)
                yield found.start(), self.message % words


@dataclass(frozen=True, slots=True)
class Prose:
    """A piece of text in a file.

    Args:
        line: The number of its first line.
        text: The text. Code and links are blanked, so offsets stay true.
        is_docstring: Whether it is a docstring.
    """

    line: int
    text: str
    is_docstring: bool = False


def rules() -> list[Rule]:
    """All rules of all styles.

    Raises:
        ValueError: If a style extends a check that this reader does not know.
    """
    found = []
    for path in sorted(STYLES.glob("*.yml")):
        style = yaml.safe_load(path.read_text(encoding="utf-8"))
        flags = re.IGNORECASE if style.get("ignorecase") else re.NOFLAG
        match style["extends"]:
            case "substitution":
                patterns = style["swap"].items()
            case "existence":
                patterns = [(token, "") for token in style["tokens"]]
            case kind:
                raise ValueError(f"{path}: extends {kind!r}; only 'substitution' and 'existence' are supported")
        found += [
            Rule(re.compile(rf"\b(?:{pattern})\b", flags), style["message"], replacement, style.get("scope") == "summary")
            for pattern, replacement in patterns
        ]
    return found


def prose_of(path: Path) -> Iterator[Prose]:
    """The prose in a file.

    In Python: docstrings, comments, help texts, messages of assertions, and the sentences that the program prints or returns. In YAML:
    comments and summaries.
    """
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        yield Prose(1, _NO_PROSE.sub(_blank, _CODE_BLOCK.sub(_blank, text)))
        return
    if path.suffix == ".yaml":
        prose = ((number, _YAML_PROSE.search(line)) for number, line in enumerate(text.splitlines(), start=1))
        yield from (Prose(number, _NO_PROSE.sub(_blank, found[0])) for number, found in prose if found)
        return
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield Prose(token.start[0], _NO_PROSE.sub(_blank, token.string))
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield Prose(node.lineno, _NO_PROSE.sub(_blank, node.value.value), is_docstring=True)
        elif isinstance(node, ast.Assert) and node.msg is not None:
            yield from _literals(node.msg)
        elif isinstance(node, ast.Call):
            yield from (each for keyword in node.keywords if keyword.arg in _HELP for each in _literals(keyword.value))
    if not any(folder in _LANGUAGE_DATA for folder in path.parts):
        yield from _sentences(tree)


def _sentences(node: ast.AST) -> Iterator[Prose]:
    """The sentences in a program's output: in the arguments of calls, in returned values, and in attributes that it sets.

    Vocabularies, patterns and prompts are constants of a module, or have several lines.
    """
    match node:
        case ast.Call(func=ast.Attribute(attr=name)) if name in _PATTERNS:
            return
        case ast.Raise():
            yield from _literals(node)
        case ast.Call() | ast.Return() | ast.Assign(targets=[ast.Attribute()]):
            yield from (each for each in _literals(node) if len(each.text.split()) >= _FEWEST_WORDS and "\n" not in each.text)
        case _:
            for child in ast.iter_child_nodes(node):
                yield from _sentences(child)


def findings_in(path: Path, checks: Iterable[Rule]) -> list[tuple[int, str]]:
    """The line and the message of each finding in a file, in order."""
    return sorted(
        (each.line + each.text.count("\n", 0, offset), message)
        for each in prose_of(path)
        for check in checks
        if each.is_docstring or not check.in_summary
        for offset, message in check.findings(each.text)
    )


def files_under(names: Iterable[str]) -> list[Path]:
    """The Markdown, Python and YAML files that the names stand for."""
    paths = [ROOT / name for name in names]
    nested = (sorted({*each.rglob("*.md"), *each.rglob("*.py"), *each.glob("*.yaml")}) if each.is_dir() else [each] for each in paths)
    return [path for group in nested for path in group]


def main(arguments: list[str]) -> int:
    """Prints each finding as ``file:line: message``; returns 1 if there are any."""
    checks, count = rules(), 0
    found = files_under(arguments) if arguments else [each for each in files_under(CHECKED) if NOT_CHECKED not in each.parents]
    for path in found:
        for line, message in findings_in(path, checks):
            print(f"{path.relative_to(ROOT)}:{line}: {message}")
            count += 1
    return 1 if count else 0


def _literals(node: ast.AST) -> Iterator[Prose]:
    """The literal parts of a string or an f-string."""
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield Prose(part.lineno, _NO_PROSE.sub(_blank, part.value))


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
