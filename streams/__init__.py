"""The flow: the delivery layer and the stages on it."""
