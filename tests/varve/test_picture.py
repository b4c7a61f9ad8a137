"""The picture of the demo is self-contained: its page loads nothing from elsewhere."""

import re
import xml.etree.ElementTree as ET
from datetime import UTC, datetime
from pathlib import Path

from memory.records import Memory
from memory.schema import scenario
from varve.demo.report import DemoOutcome, Recall, TopicContents, picture_of

PICTURE = Path(__file__).parents[2] / "docs" / "demo.svg"
MOST_BYTES = 60_000
NAMESPACE = "http://www.w3.org/2000/svg"


def memory(kind: str, content: str, **fields: object) -> Memory:
    return Memory.model_validate(
        {"id": content, "tenant": "acme", "kind": kind, "content": content, "event_time": datetime(2024, 3, 4, tzinfo=UTC), **fields}
    )


def outcome(seconds: float) -> DemoOutcome:
    event = memory("event", "Mara moved <here> & there.", type="life_event")
    result = {"type": "life_event", "content": event.content, "event_time": "2024-03-04T00:00:00Z", "score": 0.5, "evidence": ["m1"]}
    return DemoOutcome(
        schema=scenario("companion"),
        contents=TopicContents(messages=1, windows=(), memories=(event,), dead_letters=()),
        recalls=(Recall(query="Where?", results=(result,), confidence=0.83),),
        seconds=seconds,
    )


def words(picture: str) -> str:
    return " ".join("".join(ET.fromstring(picture).itertext()).replace("\xa0", " ").split())


def test_equal_outcomes_give_equal_pictures() -> None:
    picture = picture_of(outcome(1))
    assert picture == picture_of(outcome(99))
    assert "Mara moved <here> & there." in words(picture)
    assert "Where?" in words(picture)
    assert "confidence 0.83" in words(picture)


def test_the_pictures_load_nothing_from_elsewhere() -> None:
    for picture in (picture_of(outcome(1)), PICTURE.read_text(encoding="utf-8")):
        assert set(re.findall(r"https?://[^\"')\s]*", picture)) == {NAMESPACE}
        assert "@import" not in picture


def test_the_page_shows_the_output_of_the_demo() -> None:
    shown = words(PICTURE.read_text(encoding="utf-8"))
    for part in ("most important of", "mood week", "promises", "recalls", "source messages"):
        assert part in shown
    assert PICTURE.stat().st_size < MOST_BYTES
    assert "](docs/demo.svg)" in (PICTURE.parents[1] / "README.md").read_text(encoding="utf-8")
