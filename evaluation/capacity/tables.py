"""The model's figures as the tables of ``docs/operate/sizing.md``."""

from typing import Final

from evaluation.capacity.model import SERVERS, Costs, Prices, limits, population_of, rate_of
from evaluation.markdown import table
from streams.stages.catalog import STAGES

RATES: Final = (1_000, 10_000, 100_000)
"""Messages a second."""
USERS: Final = (1_000_000, 10_000_000, 100_000_000)
MESSAGES_A_DAY: Final = 20.0
"""Messages of one user."""
SESSIONS_A_DAY: Final = 1.0
PARTITIONS: Final = 64
"""Partitions of the topics in the table of limits."""
_UNITS: Final = ((1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB"))


def tables(
    costs: Costs,
    prices: Prices,
    *,
    messages_a_day: float = MESSAGES_A_DAY,
    sessions_a_day: float = SESSIONS_A_DAY,
    partitions: int = PARTITIONS,
) -> str:
    """All tables, as Markdown.

    Args:
        costs: Costs of a message.
        prices: Prices of the model.
        messages_a_day: Messages per day of a user.
        sessions_a_day: Sessions per day of a user.
        partitions: Partitions of the topics.
    """
    rates = [rate_of(each, costs, prices) for each in RATES]
    by_rate = [
        *([f"cores: {name}", *(_number(each.cores.get(name, 0.0)) for each in rates)] for name in (*STAGES, *SERVERS)),
        ["cores in total at 60 % use", *(_number(each.machines_cores) for each in rates)],
        ["partitions, at least", *(_number(each.partitions) for each in rates)],
        ["model calls at once", *(_number(each.calls_in_flight) for each in rates)],
        ["dollars for a million messages, model", *(f"{each.dollars_per_million:,.2f}" for each in rates)],
    ]
    people = [population_of(each, costs, messages_a_day=messages_a_day, sessions_a_day=sessions_a_day) for each in USERS]
    by_users = [
        ["memories after a year", *(f"{each.memories / 1e9:,.1f} billion" for each in people)],
        ["store, on disk and in memory", *(_bytes(each.store_bytes) for each in people)],
        ["rows of closed sessions", *(_bytes(each.session_rows_bytes) for each in people)],
        ["Redis, tails of a week", *(_bytes(each.redis_bytes) for each in people)],
        ["Kafka, kept forever, one copy", *(_bytes(each.log_bytes) for each in people)],
    ]
    breaks = [[_number(rate), what] for rate, what in limits(costs, partitions=partitions)]
    found = (
        table(["messages a second", *(f"{each:,}" for each in RATES)], by_rate),
        table(["users", *(f"{each:,}" for each in USERS)], by_users),
        table(["messages a second", "bottleneck"], breaks),
    )
    return "\n\n".join("\n".join(lines) for lines in found)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:,.1f}"


def _bytes(value: float) -> str:
    size, unit = next((each for each in _UNITS if value >= each[0]), _UNITS[-1])
    return f"{value / size:,.1f} {unit}"
