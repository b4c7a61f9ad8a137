"""The flow: the delivery layer and the five stages on it."""
