"""What holds a stage, in a line."""

from typing import Any

from varve.stage_status import describe_holder


def _partition(*, oldest_s: float | None = None, held_by: Any = None, log_gap: str | None = None) -> dict[str, Any]:
    return {"oldest_s": oldest_s, "held_by": held_by, "log_gap": log_gap}


def test_the_oldest_partition_is_described() -> None:
    young = _partition(oldest_s=1.0, held_by={"offset": 3, "tenant": "other", "state": "handling", "attempts": 1})
    old = _partition(oldest_s=90.0, held_by={"offset": 4, "tenant": "acme", "state": "retrying", "attempts": 6})
    assert describe_holder({"partitions": {"0": young, "1": old, "2": _partition(oldest_s=500.0)}}) == "1/4: acme, retrying, try 6"
    nobody = _partition(held_by={"offset": 3, "tenant": "", "state": "waiting", "attempts": 0})
    assert describe_holder({"partitions": {"5": nobody}}) == "5/3: ?, waiting"


def test_a_gap_comes_before_what_is_old() -> None:
    old = _partition(oldest_s=90.0, held_by={"offset": 4, "tenant": "acme", "state": "retrying", "attempts": 6})
    gone = _partition(log_gap="offsets 0 to 4 of windows/2 are lost")
    assert describe_holder({"partitions": {"1": old, "2": gone}}) == "2: offsets 0 to 4 of windows/2 are lost"
    assert describe_holder({"partitions": {"1": _partition()}}) is None
    assert describe_holder({}) is None
