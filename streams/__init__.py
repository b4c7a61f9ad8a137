"""The pipeline: the delivery layer and the stages on it."""
