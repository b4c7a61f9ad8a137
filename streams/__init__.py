"""The flow: the delivery layer and the six stages on it."""
