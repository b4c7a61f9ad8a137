"""Generated pages: command line, metrics, topics, the lists of decisions and runbooks, and the settings for the Compose file.

Compose passes only the settings that its file names: a setting that is missing there would have no effect.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import typer
import yaml
from prometheus_client.metrics import MetricWrapperBase

from memory.topic_records import RECORDS
from memory.topics import ALL, DAY_MS, TopicSpec, topic_name
from models.llm.telemetry import LLMMetrics
from runtime.kafka.topics import broker_config
from runtime.metrics import Metrics
from runtime.settings import KafkaSettings, Settings
from runtime.settings_table import setting_rows
from streams.stages.catalog import STAGES
from varve.canary.run import CanaryMetrics
from varve.cli.application import app
from varve.cli.groups import PURPOSES

_CLI_HEAD: Final = """# Command line

Generated from the commands by `make generated`; `varve COMMAND --help` prints the same. Most commands have `--data`, the folder of a
local stack.

| to | commands |
|---|---|
"""


def cli_markdown() -> str:
    """All commands, each with its arguments and options."""
    commands = sorted(_commands("varve", typer.main.get_command(app)))
    parts = [_CLI_HEAD]
    for purpose, names in PURPOSES.items():
        links = [_link(path) for name in names for path, _ in commands if path.split()[1] == name]
        parts.append(f"| {purpose.lower().replace('varve', 'Varve')} | {', '.join(links)} |\n")
    for path, command in commands:
        parts.append(f"\n## `{path}`\n\n{_plain(command.help)}\n")
        rows = [row for each in command.params if not each.hidden and "--help" not in each.opts for row in (_parameter_row(each),)]
        if rows:
            parts.append("\n| argument or option | default | what it is |\n|---|---|---|\n" + "".join(rows))
    return "".join(parts)


def _link(path: str) -> str:
    """A link to a command on the page."""
    return f"[`{path.removeprefix('varve ')}`](#{path.replace(' ', '-')})"


def _commands(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    """The commands of a group, with their full names."""
    below = getattr(command, "commands", None)
    if below is None:
        yield path, command
        return
    for name, each in below.items():
        if not each.hidden:
            yield from _commands(f"{path} {name}", each)


def _parameter_row(parameter: Any) -> str:
    is_argument = parameter.param_type_name == "argument"
    names = parameter.name.upper() if is_argument else ", ".join([*parameter.opts, *parameter.secondary_opts])
    default = "required" if parameter.required else _default(parameter)
    return f"| `{names}` | {default} | {_plain(parameter.help)} |\n"


def _default(parameter: Any) -> str:
    default = parameter.default
    return "" if default is None or default is False or callable(default) or default in ((), "") else f"`{default}`"


def _plain(text: str | None) -> str:
    return " ".join((text or "").split()).replace("|", "\\|")


_METRICS_HEAD: Final = """# Metrics

Generated from the code by `make generated`. How to read them, and which alerts use them: [monitor](../operate/monitor.md).
In Prometheus, the name of a counter ends in `_total`, and a histogram has the series `_bucket`, `_sum` and `_count`.

| metric | type | labels | meaning |
|---|---|---|---|
"""


def metrics_markdown() -> str:
    """The page's text."""
    return _METRICS_HEAD + "\n".join(sorted(_metric_rows())) + "\n"


def _metric_rows() -> Iterator[str]:
    metrics = Metrics()
    LLMMetrics(metrics.registry)
    CanaryMetrics(metrics.registry)
    # The registry reports a metric's labels only once a sample has them.
    for collector in list(metrics.registry._collector_to_names):  # noqa: SLF001
        if isinstance(collector, MetricWrapperBase):
            for family in collector.describe():
                labels = ", ".join(f"`{label}`" for label in collector._labelnames)  # noqa: SLF001
                yield f"| `{family.name}` | {family.type} | {labels} | {family.documentation} |"


_TOPICS_HEAD: Final = """# Topics

Generated from `memory/topics.py`, `memory/topic_records.py`, `streams/stages/catalog.py` and `runtime/kafka/topics.py` by
`make generated`. `varve topics create` creates missing topics. On the broker, each name has the prefix
`VARVE_KAFKA__TOPIC_PREFIX` (`{prefix}`). Each topic has `VARVE_KAFKA__PARTITIONS` partitions unless the table says
otherwise, and `VARVE_KAFKA__REPLICATION_FACTOR` replicas. The parts of a key are percent-encoded and joined by `/`. A mark
after a `#` distinguishes records of one key for compaction; it does not influence the partition.

Fields of the records: [records.schema.json](records.schema.json). The topics as AsyncAPI: [asyncapi.json](asyncapi.json). Who writes what,
and why: [architecture](../internals/architecture.md), [delivery](../internals/delivery.md).

| topic | key | records | read by | kept | partitions |
|---|---|---|---|---|---|
"""

_CONFIGURATION: Final = """
## Configuration

With default settings, as `varve topics create` gives it to the broker.

| topic | configuration |
|---|---|
"""

_CHANGELOGS: Final = """
## Changelogs

A stage with state also writes it to a compacted topic with as many partitions as its source.

| stage | changelog |
|---|---|
"""

_OTHER_RECORDS: Final[Mapping[str, str]] = {
    "control": "documents: tenants, keys, schemas, generations, erasures",
    "audit": "who changed what in `control`, with the state before and after",
    "dead-letters": "records that a stage could not process, unchanged: see [errors](errors.md#dead-letter-reasons)",
}
"""Contents of the topics whose records are not part of the wire format."""


def topics_markdown() -> str:
    """All topics: contents, readers, and how the broker keeps them."""
    kafka = KafkaSettings()
    prefix = kafka.topic_prefix
    rows = [_topic_row(topic) for topic in ALL]
    configured = [
        f"| `{topic_name(topic, prefix)}` | {', '.join(f'`{name}={value}`' for name, value in broker_config(topic, kafka).items())} |\n"
        for topic in ALL
    ]
    changelogs = [f"| `{name}` | `{stage.changelog(prefix)}` |\n" for name, stage in STAGES.items() if stage.has_table]
    return "".join([_TOPICS_HEAD.format(prefix=prefix), *rows, _CONFIGURATION, *configured, _CHANGELOGS, *changelogs])


def _topic_row(topic: TopicSpec) -> str:
    readers = ", ".join(f"`{name}`" for name, stage in STAGES.items() if stage.source == topic)
    records = RECORDS.get(topic.name)
    holds = _OTHER_RECORDS[topic.name] if records is None else ", ".join(f"`{record.__name__}`" for record in records)
    key = ", ".join(topic.key) + (f"; marked by {topic.mark}" if topic.mark else "")
    return f"| `{topic.name}` | {key} | {holds} | {readers} | {_kept(topic)} | {topic.partitions or ''} |\n"


def _kept(topic: TopicSpec) -> str:
    if topic.mark:
        return "forever, except records that an erasure or retention removes"
    if topic.cleanup == "compact":
        return "the newest of each key"
    return "forever" if topic.retention_ms < 0 else f"{topic.retention_ms // DAY_MS} days"


_DEPLOY: Final = Path(__file__).parent
_NOT_PASSED: Final = frozenset(
    {
        "VARVE_DELIVERY__DRAIN_TIMEOUT_S",  # The grace periods follow its default.
        "VARVE_KAFKA__GROUP_INSTANCE_ID",  # It differs between workers.
        "VARVE_SERVICE__PORT",  # The published one.
        "VARVE_STORE__SOCKET",
        "VARVE_TENANTS_FILE",
    }
)
"""Settings that have no meaning there, or must differ between processes."""
_CLIENT: Final = "VARVE_CLIENT__"
"""Of commands and the canary: no worker needs a tenant's key."""
_COMPOSE_HEAD: Final = """\
# From runtime/settings: make generated
# What deploy/compose.yaml does not say itself comes from the environment, or from deploy/.env; unset, it is the default.
"""


def compose_settings() -> str:
    """The text of the file."""
    fixed = _named_in("Dockerfile", r"\b(VARVE_[A-Z0-9_]+)=") | _named_in("compose.yaml", r"^ +(VARVE_[A-Z0-9_]+): \S")
    names = [row.name for row in setting_rows(Settings.model_construct())]
    passed = [name for name in names if name not in fixed | _NOT_PASSED and not name.startswith(_CLIENT)]
    return _COMPOSE_HEAD + "services:\n  varve:\n    environment:\n" + "".join(f"      {name}:\n" for name in passed)


def _named_in(file: str, pattern: str) -> set[str]:
    return set(re.findall(pattern, (_DEPLOY / file).read_text(), re.MULTILINE))


_DOCS: Final = _DEPLOY.parent / "docs"
_DECISIONS_HEAD: Final = """# Decisions

Generated from the pages by `make generated`. Each page has the decision, its alternatives and its consequences, in at most 500 words.
Measurements: [evaluation](../evaluation.md), [benchmarks](../../../benchmarks/README.md). A new decision takes the next number; a replaced
one is merged into another, which names its number.

"""
_RUNBOOKS_HEAD: Final = """# Runbooks

Generated from the alerts by `make generated`. Each page says what an alert of `deploy/prometheus/rules/alerts.yaml` means, where to look,
and what to do. Health pages are at port 9100 in the image ([monitor](../monitor.md)); replace words in CAPITALS.

| alert | severity | meaning |
|---|---|---|
"""
_MERGED: Final = re.compile(r"\((?:merges|replaces) ([\d, ]+)")


def decisions_markdown() -> str:
    """The list of decisions by number, and the merged numbers with the page that has them."""
    texts = {path.name: path.read_text() for path in sorted((_DOCS / "internals" / "adr").glob("0*.md"))}
    rows = [f"- [{text.splitlines()[0].removeprefix('# ')}]({name})\n" for name, text in texts.items()]
    merged = [(name, found[1].strip(", ")) for name, text in texts.items() if (found := _MERGED.search(text))]
    moved = "; ".join(f"[{int(name[:4])}]({name}) has {numbers}" for name, numbers in merged)
    return "".join([_DECISIONS_HEAD, *rows, f"\nMerged numbers: {moved}.\n"])


def runbooks_markdown() -> str:
    """The list of runbooks, with each alert's severity and the first sentence of its page."""
    rules = yaml.safe_load((_DEPLOY / "prometheus" / "rules" / "alerts.yaml").read_text())
    alerts = [rule for group in rules["groups"] for rule in group["rules"]]
    return _RUNBOOKS_HEAD + "".join(_runbook_row(each["alert"], each["labels"]["severity"]) for each in alerts)


def _runbook_row(alert: str, severity: str) -> str:
    page = (_DOCS / "operate" / "runbooks" / f"{alert}.md").read_text()
    meaning = page.split("\n\n")[1].partition(". ")[0].rstrip(".")
    return f"| [{alert}]({alert}.md) | {severity} | {meaning} |\n"
