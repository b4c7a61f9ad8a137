"""The outcome of a run: every accepted message must be in exactly one window."""

import contextlib
import json
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

MESSAGES = ("http", "kafka", "probe")
NOT_RECALLED = "not recalled"
"""Start of the error of a probe that was sent, but not found in time."""
_END = "end"
"""The kind of the line after the last arrival's."""


def end_line() -> str:
    """The line after the outcomes of a schedule that was run to its end."""
    return json.dumps({"kind": _END})


def read_outcomes(text: str) -> tuple[list[dict[str, Any]], bool]:
    """The recorded outcomes of a run, and whether the run is complete.

    Args:
        text: One line per outcome. The last may be incomplete.
    """
    *lines, last = text.split("\n")
    outcomes = [json.loads(each) for each in lines if each]
    with contextlib.suppress(json.JSONDecodeError):
        outcomes += [json.loads(last)] if last else []
    arrivals = [each for each in outcomes if each["kind"] != _END]
    return arrivals, len(arrivals) < len(outcomes)


def summary(outcomes: Sequence[Mapping[str, Any]], windows: Mapping[str, Iterable[str]] | None) -> dict[str, Any]:
    """The figures of a run.

    Args:
        outcomes: A line for each arrival: ``kind``, ``id``, ``seconds``, ``error``, and of a message whether it was ``accepted``.
        windows: The ids of the messages of each window, by the window's id; None: they are not known yet.

    Returns:
        ``sent`` (messages accepted), ``lost`` (of them in no window), ``duplicated`` (in more than one place), ``errors``, and latencies in
        seconds, None if not measured. A probe that was not recalled counts with the time that it waited.
    """
    accepted = {each["id"] for each in outcomes if each["kind"] in MESSAGES and each["accepted"]}
    places = None if windows is None else Counter(each for ids in windows.values() for each in ids)
    seconds = {
        kind: [each["seconds"] for each in outcomes if each["kind"] == kind and (not each["error"] or NOT_RECALLED in each["error"])]
        for kind in (*MESSAGES, "recall")
    }
    return {
        "sent": len(accepted),
        "lost": None if places is None else len(accepted - places.keys()),
        "duplicated": None if places is None else sum(places[each] > 1 for each in accepted),
        "freshness_p95_seconds": _p95(seconds["probe"]),
        "recall_p95_seconds": _p95(seconds["recall"]),
        "errors": sum(1 for each in outcomes if each["error"]),
        "ingest_http_p95_seconds": _p95(seconds["http"]),
        "ingest_kafka_p95_seconds": _p95(seconds["kafka"]),
        "recalls": len(seconds["recall"]),
        "probes": len(seconds["probe"]),
        "first_errors": [each["error"] for each in outcomes if each["error"]][:5],
    }


def problems(figures: Mapping[str, Any], *, freshness_limit_s: float | None) -> list[str]:
    """The reasons for which a run fails; none if it passes.

    Args:
        figures: The figures of a finished run: :func:`summary`, and whether it is ``complete``.
        freshness_limit_s: The longest time that a profile allows until a message is recalled (p95); None: no limit.
    """
    found = [] if figures["complete"] else ["it was interrupted"]
    if not figures["sent"]:
        found.append("no message was accepted")
    found += [f"{figures[each]} messages were {each}" for each in ("lost", "duplicated") if figures[each]]
    freshness_s = figures["freshness_p95_seconds"]
    if freshness_limit_s is not None and (freshness_s is None or freshness_s > freshness_limit_s):
        measured = "freshness was not measured" if freshness_s is None else f"p95 of freshness is {freshness_s:g} s"
        found.append(f"{measured}, the limit is {freshness_limit_s:g} s")
    return found


def _p95(seconds: Sequence[float]) -> float | None:
    return None if len(seconds) < 2 else round(statistics.quantiles(seconds, n=20, method="inclusive")[-1], 3)
