"""The stages on a real broker: speed, flat cost and memory, fairness, recovery."""
