"""Memories at the times that a query names rank higher."""

from datetime import UTC, datetime, timedelta

import pytest

from retrieval.relevance.time_prior import names_time, time_fits, with_time_prior
from stores.port import ScoredMemory
from tests.stores.factories import memory

NOW = datetime(2023, 12, 1, 9, tzinfo=UTC)


def scored_memory(content: str, *, day: str = "2023-05-10", date: str | None = None, score: float = 0.5) -> ScoredMemory:
    return ScoredMemory(memory(content, event_time=datetime.fromisoformat(f"{day}T12:00:00+00:00"), date=date), score, {})


def fits(query: str, *candidates: ScoredMemory, now: datetime = NOW) -> list[float]:
    return [float(each) for each in time_fits(query, candidates, now)]


def test_the_asked_days_fit_and_near_ones_less() -> None:
    days = ["2023-10-13", "2023-10-12", "2023-10-10", "2023-07-01"]
    found = fits("What did she paint on October 13, 2023?", *(scored_memory("a lake", day=day) for day in days))
    assert found[0] == 1
    assert found == sorted(found, reverse=True)
    assert found[1] == pytest.approx(2**-0.5)
    assert 0 < found[3] < 0.01


def test_a_date_known_less_exactly_fits_less() -> None:
    dates = ["2023-10-13", "2023-10", "2023", "unknown"]
    exact, month, year, unknown = fits("on October 13, 2023", *(scored_memory("a lake", day="2023-10-13", date=each) for each in dates))
    assert exact == 1 > month > year > unknown == 0


def test_last_may_is_counted_from_the_querys_moment() -> None:
    candidates = [scored_memory("a run", day="2022-05-10"), scored_memory("a run", day="2023-05-10")]
    assert fits("Who ran last May?", *candidates)[1] == 1
    assert fits("Who ran last May?", *candidates, now=NOW - timedelta(days=365))[0] == 1
    assert min(fits("Who ran?", *candidates)) == max(fits("Who ran?", *candidates)) == 0


def test_a_trip_among_the_memories_is_counted_from() -> None:
    candidates = [
        scored_memory("The trip to Rome began", day="2023-06-20"),
        scored_memory("a rucksack", day="2023-06-07"),
        scored_memory("a tent", day="2023-09-07"),
    ]
    trip, before, after = fits("What did I buy two weeks before the trip to Rome?", *candidates)
    assert before == 1
    assert after < trip < before
    assert fits("What did I buy two weeks before the wedding?", *candidates) == [0, 0, 0]


def test_a_prior_raises_but_never_filters() -> None:
    candidates = [
        scored_memory("a lake", day="2023-10-13", score=0.5),
        scored_memory("a hill", day="2021-01-01", score=0.9),
        scored_memory("a sea", day="2023-10-13", score=1.0),
    ]
    lake, hill, sea = with_time_prior("on October 13, 2023", candidates, NOW, explain=True)
    assert lake.score == pytest.approx(0.5 + lake.parts["prior_time"])
    assert 0.5 < lake.score < hill.score < sea.score == 1
    assert hill.score == pytest.approx(0.9)
    assert with_time_prior("a lake", candidates, NOW, explain=True) == candidates
    assert not any(each.parts for each in with_time_prior("on October 13, 2023", candidates, NOW, explain=False))


def test_a_query_names_a_time_or_none() -> None:
    assert names_time("What did I do last May?", NOW)
    assert names_time("What did I buy two weeks before the trip?", NOW)
    assert not names_time("What did I buy?", NOW)


def test_the_first_and_last_moments_are_asked_at() -> None:
    for now in (datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)):
        assert (
            fits("two weeks before Christmas, last May, since Easter, in two weeks, last 3 years", scored_memory("a lake"), now=now) != []
        )
