"""Metrics of the canary."""

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

_SECONDS: Final = (0.25, 0.5, 1, 2, 3, 5, 7.5, 10, 15, 20, 30, 45, 60, 90, 120, 300)


class CanaryMetrics:
    """The canary's metrics.

    Args:
        registry: The registry for the metrics.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self.score = Gauge(
            "varve_canary_score", "Share of the canary's questions of the last round that were answered, freshly enough.", registry=registry
        )
        self.facts = Counter("varve_canary_facts", "Facts that the canary has said, by outcome.", ("outcome",), registry=registry)
        self.recalls = Counter("varve_canary_recalls", "Questions for facts that hold, by outcome.", ("outcome",), registry=registry)
        self.freshness_seconds = Histogram(
            "varve_canary_freshness_seconds",
            "From saying a fact to the recall that finds it.",
            registry=registry,
            buckets=_SECONDS,
        )
