"""A drop retracts every window whose results may still exist."""

from control.generations.dropping import Retractions
from memory.keys import unmarked_key
from memory.records import Extraction
from tests.streams.agent_extractions import extraction

TOPIC = "varve.extractions"


def retracted(*log: Extraction, drops: int) -> list[int]:
    """The windows that a drop after these extractions retracts."""
    gathered = Retractions(TOPIC, drops=drops)
    for each in log:
        gathered.add(each, key=b"k#1", partition=3)
    records = gathered.records()
    assert {(each.topic, unmarked_key(each.key or b""), each.partition) for each in records} <= {(TOPIC, b"k", 3)}
    assert len({each.key for each in records} - {b"k", b"k#1"}) == len(records), "none stands for another in a compacted log"
    found = [Extraction.from_json(each.value or b"") for each in records]
    assert all(each.drops == drops and not each.events for each in found)
    return [each.sequence for each in found]


def test_a_window_is_retracted_once() -> None:
    assert retracted(extraction(0, [("grep", 0)]), extraction(1, []), extraction(0, [("curl", 0)]), drops=1) == [0]


def test_results_before_a_drop_are_retracted() -> None:
    assert retracted(extraction(0, [("grep", 0)]), extraction(0, []), extraction(0, []), drops=1) == [0]


def test_a_drop_repeated_takes_nothing_back_twice() -> None:
    before = [extraction(0, [("grep", 0)]), extraction(0, [], drops=1)]
    assert retracted(*before, drops=1) == []
    assert retracted(*before, extraction(0, [], drops=1), drops=2) == []


def test_records_written_after_a_drop_are_kept() -> None:
    assert retracted(extraction(0, [("grep", 0)]), extraction(0, [("grep", 0)], drops=1), drops=1) == []
    assert retracted(extraction(0, [("grep", 0)]), extraction(0, [("grep", 0)], drops=1), drops=2) == [0]
