"""The share of an endpoint's limits that a re-extraction's worker may use."""

import math
from pathlib import Path

from runtime.settings import EndpointSettings, LLMSettings, Settings
from streams.operations.reextraction.metering import limited_settings
from streams.operations.reextraction.sizing import shared_limit


def test_half_of_each_limit_is_left_to_live_calls(tmp_path: Path) -> None:
    fallback = EndpointSettings(base_url="http://127.0.0.1:2/v1", model="f", concurrency=5)
    llm = LLMSettings(
        base_url="http://127.0.0.1:1/v1", model="m", concurrency=8, requests_per_minute=61, tokens_per_minute=10_000, fallbacks=(fallback,)
    )
    settings = Settings(data=tmp_path, llm=llm)
    limited = limited_settings(settings).llm
    assert (limited.concurrency, limited.requests_per_minute, limited.tokens_per_minute) == (4, 30, 5_000)
    (limited_fallback,) = limited.fallbacks
    assert (limited_fallback.concurrency, limited_fallback.requests_per_minute) == (2, None)
    assert settings.llm.concurrency == 8, "the live limit stays"


def test_a_reextraction_parks_no_window(tmp_path: Path) -> None:
    assert limited_settings(Settings(data=tmp_path)).delivery.park_after_s == math.inf


def test_no_limit_stays_none_and_one_stays_one(tmp_path: Path) -> None:
    limited = limited_settings(Settings(data=tmp_path, llm=LLMSettings(base_url="http://127.0.0.1:1/v1", model="m", concurrency=1))).llm
    assert (limited.concurrency, limited.requests_per_minute, limited.tokens_per_minute) == (1, None, None)
    assert shared_limit(3) == 1
