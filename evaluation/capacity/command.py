"""``python -m evaluation capacity --data build/reports/ingest.json``: what rates and users take, by the report of ``make bench-ingest``."""

import argparse
from dataclasses import asdict
from typing import Any

from evaluation.capacity.model import Costs, Prices, limits, population_of, rate_of
from evaluation.capacity.tables import MESSAGES_A_DAY, PARTITIONS, RATES, SESSIONS_A_DAY, USERS, tables
from evaluation.data_files import read_json
from evaluation.errors import DataSetError
from streams.stages.sessions.codec import SessionCodec
from streams.stages.sessions.windows import SessionState


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments; their defaults are what was measured elsewhere, as ``docs/operate/sizing.md`` says."""
    parser.add_argument("--prompt-price", type=float, default=0.10, help="dollars for a million prompt tokens")
    parser.add_argument("--completion-price", type=float, default=0.40, help="dollars for a million completion tokens")
    parser.add_argument("--prompt-tokens", type=float, default=125.3, help="prompt tokens of the model for a message")
    parser.add_argument("--completion-tokens", type=float, default=25.6, help="its completion tokens for a message")
    parser.add_argument("--messages-per-window", type=float, default=23.3, help="messages that one call extracts")
    parser.add_argument("--call-seconds", type=float, default=3.0, help="seconds that a call of the model takes")
    parser.add_argument("--memory-bytes", type=float, default=5200.0, help="bytes of a memory in the store")
    parser.add_argument("--tail-bytes", type=float, default=1400.0, help="bytes of a session in Redis")
    parser.add_argument("--log-bytes", type=float, default=1600.0, help="bytes of a message in the topics that are kept forever")
    parser.add_argument("--messages-a-day", type=float, default=MESSAGES_A_DAY, help="messages of a user in a day")
    parser.add_argument("--sessions-a-day", type=float, default=SESSIONS_A_DAY, help="sessions of a user in a day")
    parser.add_argument("--partitions", type=int, default=PARTITIONS, help="partitions of the topics")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """The report: the costs that went in, and what each rate and population takes; ``markdown`` is what is printed.

    Raises:
        DataSetError: If the file is not a report of ``make bench-ingest``.
    """
    measured = read_json(arguments.data)
    if missing := {"cpu_ms_per_message", "memories", "messages"}.difference(measured):
        raise DataSetError(f"{arguments.data} has no {min(missing)}: give the report of `make bench-ingest`")
    costs = Costs(
        cpu_ms=measured["cpu_ms_per_message"],
        memories_per_message=round(measured["memories"] / measured["messages"], 3),
        prompt_tokens=arguments.prompt_tokens,
        completion_tokens=arguments.completion_tokens,
        messages_per_window=arguments.messages_per_window,
        call_s=arguments.call_seconds,
        memory_bytes=arguments.memory_bytes,
        session_row_bytes=closed_session_bytes(),
        tail_bytes=arguments.tail_bytes,
        log_bytes=arguments.log_bytes,
    )
    prices = Prices(prompt=arguments.prompt_price, completion=arguments.completion_price)
    people = [
        population_of(user, costs, messages_a_day=arguments.messages_a_day, sessions_a_day=arguments.sessions_a_day) for user in USERS
    ]
    return {
        "costs": asdict(costs),
        "prices": asdict(prices),
        "rates": [asdict(each) for each in (rate_of(each, costs, prices) for each in RATES)],
        "population": [asdict(each) for each in people],
        "markdown": tables(
            costs,
            prices,
            messages_a_day=arguments.messages_a_day,
            sessions_a_day=arguments.sessions_a_day,
            partitions=arguments.partitions,
        ),
        "limits": [{"messages_per_second": round(rate, 1), "what": what} for rate, what in limits(costs, partitions=arguments.partitions)],
    }


def closed_session_bytes() -> int:
    """A closed session's row as the stage writes it, with names as long as UUIDs."""
    name = "7c9e6679-7425-40de-944b-e07fc1f90ae7"
    closed = SessionState(tenant="acme", session=name, sequence=3, last_offset=10**9, last_event_ms=1_800_000_000_000)
    return len(SessionCodec().encode(closed))
