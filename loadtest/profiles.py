"""Behaviour of a simulated LLM: rates of failures, and supported request options."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Final, Literal

Garble = Literal["truncated", "broken", "fenced", "looping"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Shares are probabilities in [0, 1], times are seconds."""

    first_token_s: float = 0.0
    """Median time to the first token; the distribution is log-normal."""
    first_token_spread: float = 0.0
    """Sigma of its logarithm: .5 is lively, 1 has a long tail."""
    token_s: float = 0.0
    slow_heads: float = 0.0
    """Share of calls whose first token takes ``slow_head_s``."""
    slow_head_s: float = 6.0
    hangs: float = 0.0
    """Share of calls that never answer."""
    stalls: float = 0.0
    """Share of calls that stop in the middle of the answer without closing."""
    cuts: float = 0.0
    """Share of calls whose connection breaks in mid-answer."""
    overloads: float = 0.0
    """Share of calls refused with 429."""
    retry_after_s: float | None = 1.0
    failures: float = 0.0
    """Share of calls refused with 500 or 503."""
    garbles: Mapping[Garble, float] = field(default_factory=dict)
    """Shares of wrong answers, by kind."""
    max_concurrent: int | None = None
    """More calls at once than this are refused with 429."""
    json_schema: bool = True
    json_object: bool = True
    stream_options: bool = True
    max_tokens: bool = True
    """Takes ``max_tokens``; else only ``max_completion_tokens``."""


PROFILES: Final[Mapping[str, Profile]] = {
    "prompt": Profile(),
    "calm": Profile(first_token_s=0.2, first_token_spread=0.5, token_s=0.002),
    "slow": Profile(first_token_s=2.0, first_token_spread=0.3, token_s=0.005),
    "slow-heads": Profile(first_token_s=0.1, first_token_spread=0.5, slow_heads=0.01),
    "limited": Profile(first_token_s=0.1, overloads=0.2, retry_after_s=0.5, max_concurrent=8),
    "garbled": Profile(garbles={"truncated": 0.1, "broken": 0.1, "fenced": 0.2, "looping": 0.1}),
    "plain": Profile(json_schema=False, json_object=False, stream_options=False),
    "chaos": Profile(
        first_token_s=0.05,
        first_token_spread=1.0,
        slow_heads=0.02,
        hangs=0.01,
        stalls=0.01,
        cuts=0.02,
        overloads=0.05,
        retry_after_s=0.2,
        failures=0.05,
        garbles={"truncated": 0.03, "broken": 0.03, "fenced": 0.1, "looping": 0.03},
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The outcome of one call."""

    status: int = 200
    retry_after_s: float | None = None
    first_token_s: float = 0.0
    token_s: float = 0.0
    silent_after: float | None = None
    """Share of the answer after which it stops; 0: no answer."""
    cut_after: float | None = None
    """Share of the answer after which the connection breaks."""
    garble: Garble | None = None


def plan_call(profile: Profile, rng: Random) -> Plan:
    """Draws the outcome of a call."""
    first = profile.first_token_s * rng.lognormvariate(0.0, profile.first_token_spread)
    if _happens(profile.slow_heads, rng):
        first = profile.slow_head_s
    if _happens(profile.overloads, rng):
        return Plan(status=429, retry_after_s=profile.retry_after_s)
    if _happens(profile.failures, rng):
        return Plan(status=rng.choice((500, 503)))
    if _happens(profile.hangs, rng):
        return Plan(silent_after=0.0)
    garble = next((kind for kind, share in profile.garbles.items() if _happens(share, rng)), None)
    return Plan(
        first_token_s=first,
        token_s=profile.token_s,
        silent_after=rng.uniform(0.1, 0.9) if _happens(profile.stalls, rng) else None,
        cut_after=rng.uniform(0.1, 0.9) if _happens(profile.cuts, rng) else None,
        garble=garble,
    )


def garbled(text: str, kind: Garble, rng: Random) -> str:
    """An answer with an error that is typical of small models."""
    cut = int(len(text) * rng.uniform(0.3, 0.9))
    match kind:
        case "truncated":
            return text[:cut]
        case "broken":
            return text[:cut] + rng.choice((",,", '"', "}", "/* hm */", "\\")) + text[cut:]
        case "fenced":
            return f"Here is the JSON you asked for:\n```json\n{text}\n```\nI hope this helps!"
        case "looping":
            return text[:cut] + text[max(0, cut - 40) : cut] * 50


def _happens(share: float, rng: Random) -> bool:
    return rng.random() < share
