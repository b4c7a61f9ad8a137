"""The documents that a newcomer opens first leave nothing out: pages, topics, headers, Redis' keys, stages."""

import re
from pathlib import Path
from typing import Final

from memory.topics import ALL
from runtime.redis.keys import KeyFamily
from streams.stages.catalog import STAGES

ROOT: Final = Path(__file__).parents[1]
DOCS: Final = ROOT / "docs"
ARCHITECTURE: Final = (DOCS / "internals" / "architecture.md").read_text()
LINK: Final = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
HEADER: Final = re.compile(r'"(varve-[a-z-]+)"')
COUNTED: Final = re.compile(r'\brecords\.labels\([^,()]+, (f?)"([a-z_]+)')
FOLDERS: Final = ("", "start", "build", "operate", "reference", "internals")


def first_column(heading: str) -> list[str]:
    """The first cells of the rows of the table under a heading."""
    table = re.findall(r"^\|.*$", ARCHITECTURE.split(heading, 1)[1].split("\n\n**", 1)[0], re.MULTILINE)
    return [row.split("|")[1] for row in table[2:]]


def test_the_index_leads_to_every_page() -> None:
    pages = {path.relative_to(DOCS).as_posix() for folder in FOLDERS for path in (DOCS / folder).glob("*.md")}
    assert sorted(pages - {"index.md"} - set(LINK.findall((DOCS / "index.md").read_text()))) == []


def test_every_topic_has_its_row() -> None:
    documented = [name for cell in first_column("**Topics**") for name in re.findall(r"`([a-z-]+)`", cell)]
    assert sorted(documented) == sorted(spec.name for spec in ALL)


def test_every_header_has_its_row() -> None:
    documented = {name for cell in first_column("**Headers**") for name in re.findall(r"`([a-z-]+)\*?`", cell)}
    families = tuple(name for name in documented if name.endswith("-"))
    modules = [path for package in ("memory", "runtime", "streams") for path in (ROOT / package).rglob("*.py")]
    made = {name for path in modules for name in HEADER.findall(path.read_text())}
    assert "varve-kind" in made
    assert sorted(name for name in made - documented if not name.startswith(families)) == []


def test_every_redis_key_is_documented() -> None:
    made = {each.partition(":")[0] for each in KeyFamily}
    documented = {name for cell in first_column("**Redis keys**") for name in re.findall(r"`([a-z-]+):?`", cell)}
    assert {"open", "closed"} < made
    assert sorted(made - documented) == []


def test_every_outcome_of_records_is_explained() -> None:
    modules = [path for package in ("extraction", "streams") for path in (ROOT / package).rglob("*.py")]
    counted = {(f, name) for path in modules for f, name in COUNTED.findall(path.read_text())}
    table = (DOCS / "operate" / "monitor.md").read_text().partition("**`varve_records_total{stage,outcome}`:**")[2].partition("\n\n**")[0]
    assert ("f", "left_out_") in counted
    # Of a family of outcomes, the page has the prefix or a member.
    assert sorted(name for f, name in counted if f"`{name}{'' if f else '`'}" not in table) == []


def test_every_stage_is_documented() -> None:
    glossary, readme = (DOCS / "reference" / "glossary.md").read_text(), (ROOT / "README.md").read_text()
    for text in (next(row for row in glossary.splitlines() if row.startswith("| stage |")), readme.split("varve worker", 1)[1][:200]):
        assert [name for name in STAGES if name not in text] == []
