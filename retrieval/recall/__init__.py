"""Answers questions to the memory: hybrid search, then time, importance and repetitions."""

from retrieval.recall.recall import Recall
from retrieval.recall.request import Recalled, RecallRequest, RecallResult

__all__ = ["Recall", "RecallRequest", "RecallResult", "Recalled"]
