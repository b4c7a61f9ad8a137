"""The stages on a real broker: throughput, flat cost and memory, fairness, recovery."""
