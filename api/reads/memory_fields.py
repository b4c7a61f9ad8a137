"""Memories, results and candidates as responses and webhooks show them."""

from typing import Any

from memory.records import Memory
from retrieval.request import CandidateOutcome, RecallHit


def memory_fields(memory: Memory) -> dict[str, Any]:
    """A memory as plain values. Its message ids are its ``evidence``, as in a recall. Its search text is never shown."""
    fields = memory.model_dump(mode="json", exclude_none=True, exclude={"schema_version", "tenant", "message_ids", "search_text"})
    return {**fields, "evidence": memory.message_ids}


def hit_fields(hit: RecallHit, *, explain: bool) -> dict[str, Any]:
    """A result of a recall as plain values.

    Args:
        hit: The result.
        explain: Whether to add the parts of its score, and its ranks by each part.
    """
    fields = {
        **memory_fields(hit.memory),
        "score": hit.score,
        "evidence": hit.evidence,
        "evidence_scores": hit.evidence_scores,
        "superseded_by": hit.superseded_by,
        "repeated_by": hit.repeated_by,
        "keyword": hit.keyword,
    }
    return {**fields, "parts": hit.parts, "ranks": dict(hit.ranks)} if explain else fields


def candidate_fields(candidate: tuple[str, CandidateOutcome]) -> dict[str, Any]:
    """A candidate's id and outcome as plain values."""
    memory_id, outcome = candidate
    return {
        "id": memory_id,
        "outcome": outcome.outcome,
        "score": outcome.score,
        "rank": outcome.rank,
        "of": outcome.of,
        "parts": dict(outcome.parts),
        "ranks": dict(outcome.ranks),
    }
