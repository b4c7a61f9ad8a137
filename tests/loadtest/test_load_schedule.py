from collections import Counter
from itertools import pairwise

import pytest

from loadtest.schedule import LOAD_PROFILES, LoadProfile, Phase, Texts, arrivals

BUSY = LoadProfile(phases=(Phase(100), Phase(20, 10)), messages=40, direct_share=0.75, recalls=5, probes=1, tenants=10)


def test_a_seed_gives_the_same_run() -> None:
    once, again, other = (list(arrivals(BUSY, seed=seed)) for seed in (3, 3, 4))
    assert once == again
    assert once != other


def test_arrivals_follow_the_rates_of_the_profile() -> None:
    run = list(arrivals(BUSY, seed=1))
    assert run == sorted(run, key=lambda each: each.at_s)
    assert run[-1].at_s < BUSY.seconds
    calm = Counter(each.kind for each in run if each.at_s < 100)
    assert calm["kafka"] == pytest.approx(3000, rel=0.1)
    assert calm["http"] == pytest.approx(1000, rel=0.15)
    assert calm["recall"] == pytest.approx(500, rel=0.2)
    assert sum(each.at_s >= 100 for each in run) == pytest.approx(46 * 10 * 20, rel=0.1)


def test_waits_have_no_memory() -> None:
    run = [each.at_s for each in arrivals(BUSY, seed=1) if each.at_s < 100]
    waits = [later - earlier for earlier, later in pairwise(run)]
    mean = sum(waits) / len(waits)
    # Of exponential waits the deviation is the mean; of even ones it is 0.
    assert (sum((each - mean) ** 2 for each in waits) / len(waits)) ** 0.5 == pytest.approx(mean, rel=0.1)


def test_one_tenant_sends_most_and_sessions_end() -> None:
    run = list(arrivals(BUSY, seed=1))
    tenants = Counter(each.tenant for each in run)
    assert tenants.most_common(1)[0][0] == 0
    assert tenants[0] > 5 * tenants[9]
    sessions = Counter((each.tenant, each.session) for each in run if each.kind != "probe")
    assert 5 < sum(sessions.values()) / len(sessions) < 25
    assert len({each.id for each in run}) == len(run)


def test_every_profile_can_be_run() -> None:
    assert set(LOAD_PROFILES) == {"smoke", "freshness", "steady", "spike", "soak", "billion"}
    for profile in LOAD_PROFILES.values():
        assert next(arrivals(profile, seed=1)).at_s < profile.seconds
    assert LOAD_PROFILES["billion"].tenants == 1
    assert LOAD_PROFILES["steady"].messages == 400


def test_a_shorter_run_has_the_same_rates() -> None:
    half = BUSY.lasting(60)
    assert [phase.seconds for phase in half.phases] == [50, 10]
    assert BUSY.lasting(None) == BUSY
    ends = [each.at_s for each in arrivals(half, seed=1)]
    assert len(ends) == pytest.approx(len(list(arrivals(BUSY, seed=1))) / 2, rel=0.05)


def test_a_session_is_a_part_of_the_conversation() -> None:
    said = [f"said {number}" for number in range(1000)]
    run = list(arrivals(BUSY, seed=1, texts=Texts(said, ["asked"])))
    sessions: dict[tuple[int, str], list[int]] = {}
    for each in run:
        if each.kind in ("http", "kafka"):
            sessions.setdefault((each.tenant, each.session), []).append(said.index(each.text))
    assert all(later == (earlier + 1) % 1000 for places in sessions.values() for earlier, later in pairwise(places))
    assert len({places[0] for places in sessions.values()}) > 100
    assert {each.text for each in run if each.kind == "recall"} == {"asked"}
    assert not {each.text for each in run if each.kind == "probe"} & {*said, "asked"}


def test_without_questions_the_messages_are_the_queries() -> None:
    run = arrivals(BUSY, seed=1, texts=Texts(["one", "two"]))
    assert {each.text for each in run if each.kind == "recall"} == {"one", "two"}
