"""Answers queries to the memory: hybrid search, then time and importance weights and the removal of duplicates."""

from retrieval.recall.recall import Recall
from retrieval.recall.request import RecallHit, RecallRequest, RecallResponse

__all__ = ["Recall", "RecallHit", "RecallRequest", "RecallResponse"]
