"""The outcomes of a run, as they are read and counted."""

import json

import pytest

from loadtest.outcomes import end_line, problems, read_outcomes, summary


def line(name: str, *, accepted: bool = True, error: str | None = None) -> str:
    return json.dumps({"kind": "http", "id": name, "seconds": 0.5, "error": error, "accepted": accepted})


def test_a_finished_run_is_complete() -> None:
    outcomes, is_complete = read_outcomes("\n".join((line("a"), end_line(), "")))
    assert [each["id"] for each in outcomes] == ["a"]
    assert is_complete


@pytest.mark.parametrize("rest", ["", "\n", '\n{"kind": "ht'])
def test_an_interrupted_run_keeps_its_results(rest: str) -> None:
    outcomes, is_complete = read_outcomes(line("a") + "\n" + line("b") + rest)
    assert [each["id"] for each in outcomes] == ["a", "b"]
    assert not is_complete


def test_lost_and_duplicated_records_are_counted() -> None:
    outcomes = [{"kind": "http", "id": f"m{number}", "seconds": 0.1, "error": None, "accepted": True} for number in range(4)]
    outcomes += [
        {"kind": "kafka", "id": "m4", "seconds": 0.1, "error": "refused", "accepted": False},
        {"kind": "probe", "id": "m5", "seconds": 30.0, "error": "not recalled 30 s after its window closed", "accepted": True},
        {"kind": "probe", "id": "m6", "seconds": 5.0, "error": "/v1/recall answered 429", "accepted": True},
        {"kind": "recall", "id": "r1", "seconds": 0.2, "error": None, "accepted": False},
        {"kind": "recall", "id": "r2", "seconds": 0.4, "error": None, "accepted": False},
    ]
    figures = summary(outcomes, {"w1": ["m0", "m1", "m5"], "w2": ["m1", "m2", "m2"]})
    assert (figures["sent"], figures["lost"], figures["duplicated"], figures["errors"]) == (6, 2, 2, 3), (
        "a message that was accepted counts, whatever became of its recalls"
    )
    assert figures["recall_p95_seconds"] == 0.39
    assert figures["freshness_p95_seconds"] is None


def test_before_the_windows_are_known_nothing_is_called_lost() -> None:
    figures = summary(read_outcomes(line("a"))[0], None)
    assert (figures["sent"], figures["lost"], figures["duplicated"]) == (1, None, None)


def passing(**changed: object) -> dict[str, object]:
    return {"sent": 9, "lost": 0, "duplicated": 0, "complete": True, "freshness_p95_seconds": 0.4, **changed}


@pytest.mark.parametrize(
    ("changed", "limit_s", "found"),
    [
        ({}, 1.0, []),
        ({"freshness_p95_seconds": None}, None, []),
        ({"lost": 2, "duplicated": 1}, None, ["2 messages were lost", "1 messages were duplicated"]),
        ({"sent": 0, "complete": False}, None, ["it was interrupted", "no message was accepted"]),
        ({"freshness_p95_seconds": 1.5}, 1.0, ["p95 of freshness is 1.5 s, the limit is 1 s"]),
        ({"freshness_p95_seconds": None}, 1.0, ["freshness was not measured, the limit is 1 s"]),
    ],
)
def test_a_failed_run_says_why(changed: dict[str, object], limit_s: float | None, found: list[str]) -> None:
    assert problems(passing(**changed), freshness_limit_s=limit_s) == found
