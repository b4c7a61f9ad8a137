"""What is read of a run's outcomes, and what is counted of them."""

import json

import pytest

from loadtest.outcomes import end_line, read_outcomes, summary


def line(name: str, *, accepted: bool = True, error: str | None = None) -> str:
    return json.dumps({"kind": "http", "id": name, "seconds": 0.5, "error": error, "accepted": accepted})


def test_a_run_that_came_to_its_end_is_complete() -> None:
    outcomes, is_complete = read_outcomes("\n".join((line("a"), end_line(), "")))
    assert [each["id"] for each in outcomes] == ["a"]
    assert is_complete


@pytest.mark.parametrize("rest", ["", "\n", '\n{"kind": "ht'])
def test_a_run_that_was_cut_off_leaves_what_came(rest: str) -> None:
    outcomes, is_complete = read_outcomes(line("a") + "\n" + line("b") + rest)
    assert [each["id"] for each in outcomes] == ["a", "b"]
    assert not is_complete


def test_only_accepted_messages_are_lost_or_doubled() -> None:
    outcomes, _ = read_outcomes("\n".join((line("a"), line("b"), line("c"), line("d", accepted=False, error="closed"))))
    figures = summary(outcomes, {"w1": ["a", "b"], "w2": ["b"]})
    assert (figures["sent"], figures["lost"], figures["duplicated"], figures["errors"]) == (3, 1, 1, 1)


def test_before_the_windows_are_known_nothing_is_called_lost() -> None:
    figures = summary(read_outcomes(line("a"))[0], None)
    assert (figures["sent"], figures["lost"], figures["duplicated"]) == (1, None, None)
