"""A memory as responses and webhooks show it."""

from typing import Any

from memory.records import Memory


def memory_fields(memory: Memory) -> dict[str, Any]:
    """A memory as plain values. Its message ids are its ``evidence``, as in a recall. Its search text is never shown."""
    fields = memory.model_dump(mode="json", exclude_none=True, exclude={"schema_version", "tenant", "message_ids", "search_text"})
    return {**fields, "evidence": memory.message_ids}
