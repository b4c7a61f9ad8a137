"""Names in the documents exist."""

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from control.errors import UnknownTenantError
from deploy.generate import stale
from evaluation.__main__ import COMMANDS as BENCHMARKS
from memory.errors import RecordError
from memory.topic_records import RECORDS
from memory.topics import ALL
from runtime.seals import BAD_SIGNATURE, FORGED_HEADER, UNSIGNED
from runtime.settings import Settings
from runtime.settings_table import setting_rows
from streams.engine.failures.crash_journal import REASON as CRASHED
from streams.stages.catalog import STAGES
from varve.cli.application import app

ROOT = Path(__file__).parents[1]
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "examples").rglob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
PATH = re.compile(
    r"`((?:\.ci|benchmarks|deploy|docs|api|client|control|stores|evaluation|examples|extraction|helm|loadtest|memory|models|operators|retrieval|runtime|streams|tests|varve)/[\w./-]*)`"
)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
PACKAGES = ("api", "control", "extraction", "memory", "models", "operators", "retrieval", "runtime", "stores", "streams", "varve")
MOST_WORDS_OF_A_PAGE = 2500
SHELL = re.compile(r"^ *```sh(?: title=\"[^\"]*\")?\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
GENERATED = ("settings.md", "cli.md", "topics.md", "metrics.md")
SPAN = re.compile(r"`varve ([^`\n]+)`")
SETTING = re.compile(r"\bVARVE_[A-Z0-9_]+\*?")
NAMED_DEFAULT = re.compile(r"`(VARVE_[A-Z0-9_]+)`(?: \(|, )(?:default: )?(\d[\d,.]*\d|\d)(?: (s|seconds|minutes|hours|days))?[),;]")
SECONDS = {"minutes": 60, "hours": 3600, "days": 86400}
TESTS_OWN = ("VARVE_TEST_", "VARVE_FORBID_SKIPS")
COMMANDS: Any = typer.main.get_command(app)
USAGE_ERROR: Any = typer.BadParameter.__base__


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_paths_and_links_of_documents_exist(document: Path) -> None:
    text = document.read_text()
    missing = [path for path in PATH.findall(text) if not (ROOT / path).exists()]
    missing += [link for link in LINK.findall(text) if not (document.parent / link).exists()]
    assert missing == []


def test_generated_files_are_up_to_date() -> None:
    assert sorted(map(str, stale())) == [], "write them again: python -m deploy.generate"


def test_every_stage_is_deployed() -> None:
    services = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())["services"]
    workers = {service["command"][1] for service in services.values() if service.get("command", [""])[0] == "worker"}
    assert workers == STAGES.keys(), "a stage is a service of deploy/compose.yaml"
    alert = (ROOT / "deploy" / "prometheus" / "rules" / "alerts.yaml").read_text()
    missed = set(re.findall(r'absent\(up\{job="varve",component="(\w+)"', alert))
    assert missed == {*STAGES, "service"}, "a stage is missed by VarveStageWithoutWorkers, deploy/prometheus/rules/alerts.yaml"
    scraped = yaml.safe_load((ROOT / "deploy" / "prometheus" / "prometheus.yml").read_text())["scrape_configs"][0]["dns_sd_configs"][0][
        "names"
    ]
    assert set(scraped) == {*STAGES, "service", "canary"}, "a stage is scraped by deploy/prometheus/prometheus.yml"


def test_the_wire_format_documents_every_topic() -> None:
    of_others = {"control", "audit", "dead-letters"}
    assert RECORDS.keys() == {topic.name for topic in ALL} - of_others, "a topic's records are named in memory/topic_records.py"


def test_every_benchmark_is_documented_by_name() -> None:
    named = {name for document in DOCUMENTS for name in re.findall(r"-m evaluation ([a-z][a-z-]*)", document.read_text())}
    assert named <= BENCHMARKS.keys()
    documented = set(re.findall(r"-m evaluation ([a-z][a-z-]*)", (ROOT / "docs" / "internals" / "evaluation.md").read_text()))
    assert BENCHMARKS.keys() - documented == {each for each in BENCHMARKS if each.startswith("fit-") or each == "segmentation"}


def test_every_setting_that_documents_name_is_known() -> None:
    known = {row.name for row in setting_rows(Settings.model_construct())}
    unknown = {
        (str(document.relative_to(ROOT)), name)
        for document in DOCUMENTS
        for name in SETTING.findall(document.read_text())
        if not name.startswith(TESTS_OWN)
        and name not in known
        # A group's name, as in VARVE_QUOTA__*, or one with its members.
        and not (name.endswith(("_", "*")) and any(each.startswith(name.rstrip("*")) for each in known))
    }
    assert unknown == set()


def test_defaults_that_pages_name_are_in_force() -> None:
    defaults = {row.name: row.value for row in setting_rows(Settings.model_construct())}
    named = [
        (str(page.relative_to(ROOT)), name, float(number.replace(",", "")) * SECONDS.get(unit, 1))
        for page in DOCUMENTS
        if page.name not in GENERATED
        for name, number, unit in NAMED_DEFAULT.findall(page.read_text())
    ]
    assert len(named) > 10
    assert [each for each in named if each[2] != float(defaults[each[1]])] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_of_documents_are_ones_that_varve_takes(document: Path) -> None:
    for block in SHELL.findall(document.read_text()):
        for command in commands_of(block):
            parse(command)


@pytest.mark.parametrize("page", [each for each in DOCUMENTS if each.name not in GENERATED], ids=lambda path: str(path.relative_to(ROOT)))
def test_no_page_is_too_long(page: Path) -> None:
    prose = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    assert len(prose.split()) <= MOST_WORDS_OF_A_PAGE


def test_the_errors_page_lists_every_problem_and_reason() -> None:
    problems, reasons = (
        set(re.findall(r"`([a-z_-]+)`", "".join(row.split("|")[1] for row in rows(part)[2:])))
        for part in (ROOT / "docs" / "reference" / "errors.md").read_text().split("## Dead-letter reasons")
    )
    service = "".join(path.read_text() for path in (ROOT / "api").rglob("*.py"))
    raised = set(re.findall(r'ProblemError\(\s*\d{3},\s*"([a-z-]+)"', service))
    of_records = {each.reason for each in record_errors()}
    assert problems == raised | {"unauthorized", "internal"} | ({each.replace("_", "-") for each in of_records} - {"unknown-tenant"})
    stages = "".join(path.read_text() for path in (ROOT / "streams").rglob("*.py"))
    named = set(re.findall(r'(?:PoisonRecordError|WaitedTooLongError)\(\s*"([a-z_]+)"', stages))
    assert reasons == named | of_records | {CRASHED, UNSIGNED, BAD_SIGNATURE, FORGED_HEADER, UnknownTenantError.reason}


def test_the_page_lists_every_logged_warning_and_error() -> None:
    page = (ROOT / "docs" / "reference" / "log-events.md").read_text()
    documented = [name for row in rows(page) for name in re.findall(r"`([a-z_]+)`", row.split("|")[1])]
    logged = {name for folder in PACKAGES for path in (ROOT / folder).rglob("*.py") for name in events_of(path)}
    assert sorted(documented) == sorted(logged)


def events_of(path: Path) -> Iterator[str]:
    """The names of the events that a module logs at warning or above."""
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Call(func=ast.Attribute(attr="warning" | "error" | "exception"), args=[ast.Constant(value=str(name)), *_]):
                yield name


def rows(text: str) -> list[str]:
    """The rows of the tables of a text."""
    return re.findall(r"^\|.*$", text, re.MULTILINE)


def record_errors() -> Iterator[type[RecordError]]:
    """The errors with which a record can be refused."""
    yield RecordError
    yield from RecordError.__subclasses__()


@pytest.mark.parametrize(
    "command", [["recal", "who?"], ["recall"], ["recall", "who?", "--usr", "ann"], ["replay", "index", "--from-time", "noon"]], ids=" ".join
)
def test_a_command_that_varve_does_not_take_is_noticed(command: list[str]) -> None:
    with pytest.raises(USAGE_ERROR):
        parse(command)


def test_commands_within_sentences_are_there() -> None:
    unknown = []
    for document in DOCUMENTS:
        for words in SPAN.findall(document.read_text()):
            command = COMMANDS
            for word in words.split():
                names = word.split("|")
                if not hasattr(command, "commands") or not all(re.fullmatch("[a-z][a-z-]*", name) for name in names):
                    break
                unknown += [(str(document.relative_to(ROOT)), words) for name in names if name not in command.commands]
                command = command.commands.get(names[0]) if len(names) == 1 else None
    assert unknown == []


def commands_of(block: str) -> Iterator[list[str]]:
    """The arguments of each ``varve`` call in a block of shell; texts that the block writes into files are skipped."""
    block = re.sub(r"<<'(\w+)'\n.*?^ *\1$", "", block, flags=re.MULTILINE | re.DOTALL).replace("\\\n", " ")
    for line in block.splitlines():
        if "varve " not in line:
            continue
        lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>()")
        lexer.whitespace_split = True
        words: list[str] = []
        for token in [*lexer, ";"]:
            if not re.fullmatch("[|&;<>()]+", token):
                words.append(token)
                continue
            # In front may stand variables, a loop's `do`, or another program's `--`.
            called = " ".join(words).partition("varve ")[0]
            if "varve" in words and re.fullmatch(r"(do |[A-Z_]+=\S* |.* -- )*", called):
                yield words[words.index("varve") + 1 :]
            words = []


def parse(command: list[str]) -> None:
    """Lets the command line's own parser read a command, and calls nothing.

    Args:
        command: The arguments of ``varve``.

    Raises:
        USAGE_ERROR: If there is no such command, or it takes other arguments.
    """
    group, rest = COMMANDS, command
    context = typer.Context(group, info_name="varve")
    while hasattr(group, "commands"):
        name, group, rest = group.resolve_command(context, rest)
    group.make_context(name, list(rest), parent=context)
