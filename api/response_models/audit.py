"""Response models of the routes for the audit and the read audit, for the OpenAPI document."""

from datetime import datetime
from typing import Any, Final

from api.http.openapi import ResponseModel, Responses, answers
from memory.records.read import ReadKind


class ReadView(ResponseModel):
    """A recorded read of a user's memories."""

    time: datetime
    key_id: str
    """The id of the API key, or the subject of an identity provider's token."""
    what: ReadKind
    memory_ids: list[str]
    left_out: int
    """Number of further memories."""


class Reads(ResponseModel):
    """The recorded reads of a user's memories."""

    reads: list[ReadView]


class AuditRecords(ResponseModel):
    """Records of the audit, oldest first."""

    records: list[dict[str, Any]]
    total: int


class AuditVerdict(ResponseModel):
    """Whether the audit chain is complete."""

    changes: int
    records: int
    digest: str
    problems: list[str]


READS: Final[Responses] = answers(Reads, description="The reads, newest first.")
AUDIT: Final[Responses] = answers(AuditRecords, description="The records.")
VERDICT: Final[Responses] = answers(AuditVerdict, description="The result of the check.")
