"""What the documents name is there."""

import re
from pathlib import Path

import pytest
import yaml

from deploy.generate import stale
from memory.topics import ALL
from memory.wire_schema import RECORDS
from streams.stages import STAGES

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PATH = re.compile(
    r"`((?:\.ci|benchmarks|deploy|docs|evaluation|extraction|helm|loadtest|memory|models|operators|retrieval|runtime|streams|tests|varve)/[\w./-]*)`"
)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_paths_and_links_of_documents_exist(document: Path) -> None:
    text = document.read_text()
    missing = [path for path in PATH.findall(text) if not (ROOT / path).exists()]
    missing += [link for link in LINK.findall(text) if not (document.parent / link).exists()]
    assert missing == []


def test_what_is_generated_is_up_to_date() -> None:
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


def test_the_wire_format_tells_of_every_topic() -> None:
    of_others = {"control", "audit", "dead-letters"}
    assert RECORDS.keys() == {topic.name for topic in ALL} - of_others, "a topic's records are named in memory/wire_schema.py"
