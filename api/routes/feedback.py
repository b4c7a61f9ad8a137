"""``POST /v1/feedback``: which results of a recall were of use."""

from typing import Annotated, Final, Self

from fastapi import APIRouter, Depends
from pydantic import Field, model_validator
from starlette.responses import Response

from api.authentication import RecallCaller
from api.dependencies import AppDependencies, RequestTrace
from api.json_http import JsonResponse
from api.openapi import RequestModel
from api.quota_dependency import RecallQuota
from api.request_body import body_schema, json_body
from api.responses import FEEDBACK_TAKEN
from memory.headers import FEEDBACK, KIND
from memory.keys import encode_key
from memory.records import FeedbackRecord
from memory.records.message import Name
from memory.topics import RECALLS
from runtime.tracing import record_headers

router = APIRouter(tags=["read"])

_MAX_MEMORIES: Final = 1000
"""As many as a recall returns at most."""

_Memories = Annotated[list[Name], Field(max_length=_MAX_MEMORIES)]


class FeedbackBody(RequestModel):
    """Feedback on the results of a recall."""

    recall_id: Name
    """As the recall's answer, or the context's, had it."""
    user: Name | None = None
    """As the recall named it."""
    useful: _Memories = Field(default_factory=list)
    """Ids of the memories that were of use."""
    useless: _Memories = Field(default_factory=list)
    """Ids of those that were of none."""

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        if not (self.useful or self.useless):
            raise ValueError("name at least one memory in useful or in useless")
        if both := sorted({*self.useful} & {*self.useless}):
            raise ValueError(f"a memory is useful or useless, not both: {', '.join(both[:5])}")
        return self


@router.post("/v1/feedback", openapi_extra=body_schema(FeedbackBody), responses=FEEDBACK_TAKEN)
async def send_feedback(
    caller: RecallCaller,
    quota: RecallQuota,
    body: Annotated[FeedbackBody, Depends(json_body(FeedbackBody))],
    dependencies: AppDependencies,
    trace: RequestTrace,
) -> Response:
    """Records which results of a recall were useful, next to the recall's record in the topic ``recalls``. Counts as a recall.

    200 with ``{position: {topic, partition, offset}}`` once it is durable in Kafka. Of several about one recall the last one counts.
    """
    tenant, user = caller.tenant.id, caller.user_of(body.user)
    now = dependencies.clock.now()
    record = FeedbackRecord(recall_id=body.recall_id, tenant=tenant, user=user, useful=body.useful, useless=body.useless, time=now)
    position = await dependencies.producer.send(
        dependencies.settings.topic(RECALLS.name),
        key=encode_key(tenant) if user is None else encode_key(tenant, user),
        value=record.to_json(),
        headers=(*record_headers(trace, now), (KIND, FEEDBACK)),
    )
    answer = JsonResponse({"position": position})
    answer.headers.update(quota)
    return answer
