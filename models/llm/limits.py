"""Limits of one endpoint: calls at once, requests and tokens a minute. The rules, without Redis and without waiting."""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Final

WINDOW_S: Final = 60
FULL_HOUSE_WAIT_S: Final = 1
"""When all places are taken: any call may end any time, so ask again soon."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What an endpoint allows; None: no limit."""

    concurrency: int
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None


@dataclass(slots=True)
class _Second:
    requests: int = 0
    tokens: int = 0


@dataclass(slots=True)
class LocalLimits:
    """The limits as one process keeps them by itself.

    Requests and tokens are counted per second, and a call counts for the 60 whole seconds after its own: no stretch of 60 s ever holds
    more than the limit. A call larger than the whole limit counts as the limit, or it could never run.
    """

    limits: Limits
    _members: set[str] = field(default_factory=set)
    _seconds: dict[int, _Second] = field(default_factory=lambda: defaultdict(_Second))

    def acquire(self, member: str, tokens: int, now: float) -> float:
        """Takes a place, if there is one.

        Args:
            member: Names the call.
            tokens: What it may use up.
            now: Seconds on any steady clock.

        Returns:
            0 if the place is taken; else the seconds after which to ask again.
        """
        second = int(now)
        for old in [each for each in self._seconds if each < second - WINDOW_S]:
            del self._seconds[old]
        if len(self._members) >= self.limits.concurrency:
            return float(FULL_HOUSE_WAIT_S)
        wait = self._wait(tokens, now)
        if wait == 0.0:
            self._members.add(member)
            self._seconds[second].requests += 1
            self._seconds[second].tokens += self._capped(tokens)
        return wait

    def settle(self, second: int, reserved: int, used: int) -> None:
        """Corrects what was counted in a second, once it is known what a call used."""
        if second in self._seconds:
            self._seconds[second].tokens += self._capped(used) - self._capped(reserved)

    def release(self, member: str) -> None:
        """Gives a place back."""
        self._members.discard(member)

    def _wait(self, tokens: int, now: float) -> float:
        requests_over = self._over(self.limits.requests_per_minute, sum(each.requests for each in self._seconds.values()) + 1)
        tokens_over = self._over(self.limits.tokens_per_minute, sum(each.tokens for each in self._seconds.values()) + self._capped(tokens))
        if requests_over <= 0 and tokens_over <= 0:
            return 0.0
        for second, counted in sorted(self._seconds.items()):
            requests_over -= counted.requests
            tokens_over -= counted.tokens
            if requests_over <= 0 and tokens_over <= 0:
                return second + WINDOW_S + 1 - now
        return float(WINDOW_S)

    def _capped(self, tokens: int) -> int:
        return tokens if self.limits.tokens_per_minute is None else min(tokens, self.limits.tokens_per_minute)

    @staticmethod
    def _over(limit: int | None, wanted: int) -> int:
        return 0 if limit is None else wanted - limit
