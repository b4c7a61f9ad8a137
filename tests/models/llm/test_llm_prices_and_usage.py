from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.records import Usage
from models.errors import ModelConfigurationError
from models.llm.port import LLMUsage
from models.llm.usage import Price, PriceTable, UsageKey, UsageTotal, sum_usage

USAGES = st.builds(
    Usage,
    tenant=st.sampled_from(["a", "b"]),
    stage=st.sampled_from(["extraction", "entities"]),
    model=st.sampled_from(["m", "n"]),
    prompt_tokens=st.integers(0, 1000),
    cached_tokens=st.just(0),
    completion_tokens=st.integers(0, 1000),
    cost=st.integers(0, 100).map(float),
    time=st.just(datetime(2024, 1, 1, tzinfo=UTC)),
)


def test_cached_tokens_have_their_own_price() -> None:
    usage = LLMUsage(prompt_tokens=1_000_000, cached_tokens=400_000, completion_tokens=100_000)
    table = PriceTable({"m": Price(prompt=2.0, cached=0.5, completion=8.0), "n": Price(prompt=2.0, completion=8.0)})
    assert table.cost("m", usage) == pytest.approx(0.6 * 2 + 0.4 * 0.5 + 0.1 * 8)
    assert table.cost("n", usage) == pytest.approx(2 + 0.8)
    assert PriceTable().cost("m", usage) == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [("{", "not JSON"), ('{"m": {"prompt": -1, "completion": 1}}', "m.prompt"), ('{"m": {"prompt": 1}}', "m.completion")],
)
def test_a_wrong_price_table_names_the_field(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "prices.json"
    file.write_text(text)
    with pytest.raises(ModelConfigurationError, match=said):
        PriceTable.load(file)


def test_a_missing_price_table_names_the_setting(tmp_path: Path) -> None:
    with pytest.raises(ModelConfigurationError, match="VARVE_LLM__PRICE_TABLE"):
        PriceTable.load(tmp_path / "none.json")


def test_a_model_missing_from_the_prices_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "prices.json"
    file.write_text('{"m": {"prompt": 1, "completion": 2}}')
    table = PriceTable.load(file)
    table.require("m")
    with pytest.raises(ModelConfigurationError, match="'other'"):
        table.require("other")
    PriceTable().require("other")


@given(st.lists(USAGES, max_size=30))
def test_usage_sums_are_complete_and_separate(records: list[Usage]) -> None:
    totals = sum_usage(records)
    assert sum(total.prompt_tokens for total in totals.values()) == sum(each.prompt_tokens for each in records)
    assert sum(total.cost for total in totals.values()) == sum(each.cost for each in records)
    assert sum(total.calls for total in totals.values()) == len(records)
    for key, total in totals.items():
        own = [each for each in records if (each.tenant, each.stage, each.model) == key]
        assert total.completion_tokens == sum(each.completion_tokens for each in own)
    assert list(totals) == sorted(totals)


def test_the_cached_share_counts_prompt_tokens() -> None:
    usage = Usage(tenant="a", stage="s", model="m", prompt_tokens=200, cached_tokens=50, time=datetime(2024, 1, 1, tzinfo=UTC))
    assert sum_usage([usage, usage])[UsageKey("a", "s", "m")].cached_share == 0.25
    assert UsageTotal().cached_share == 0.0
