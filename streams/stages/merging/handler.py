"""The merging stage: answers the questions of the entities' operators with an LLM, and sends the outcomes to their entities."""

import asyncio
from collections.abc import Sequence
from typing import Any, Final, NamedTuple, cast

from pydantic import JsonValue

from control.tenants import TenantDirectory
from memory.errors import RecordError
from memory.ids import entity_id
from memory.keys import PADDING, encode_key, entity_key_parts
from memory.records import Contribution, Lookup, Merged, MergeRequest
from memory.schema.model import EntityType
from memory.topics import CONTRIBUTIONS, MERGES
from models.errors import BudgetExceededError, InputRefusedError, ModelConfigurationError, ModelError, TransientModelError
from models.llm.port import LLM, ChatMessage, LLMRequest
from operators.agent.agent import AgentText
from operators.entities.entity_keys import belongs_to_user
from operators.errors import UnusableAnswerError
from operators.llm.llm_operator import LLMOperator, Outcome, Prompt, Question
from operators.registry import bound_operator
from runtime.kafka import OutgoingRecord
from runtime.logs import logger
from runtime.metrics import Metrics
from runtime.settings import Settings
from streams.engine.records import ConsumedRecord
from streams.errors import PoisonRecordError, TransientError, transient
from streams.stages.merging.indexed_log import IndexedLog
from streams.stages.merging.lookups import OpenNearest, found_memories
from streams.stages.tenancy import is_erased, schema_of_record

STAGE: Final = "merging"

_UNTOLD_KEYS: Final = frozenset({"user", "session", "event"})

_log = logger(__name__)


class _Asked(NamedTuple):
    """A request, and what asked it."""

    request: MergeRequest
    entity_type: EntityType
    """The type of the entity that asks."""
    record: ConsumedRecord


class MergingHandler:
    """Handles requests: each gets one outcome, from the LLM or, if it gives none, by the operator's rule.

    Prompts, answers and rules are computed in threads: reading a long answer takes a second, and a blocked event loop makes the stage
    leave its consumer group.

    Args:
        settings: The settings in force.
        tenants: The known tenants, with their schemas.
        metrics: Counts outcomes by rule, with the reason.
        llm: The LLM. None: the rule answers.
        nearest: Resolves lookups. None: requests have none.
        indexed_log: Lookups wait until the index has what was in the log before. None: they do not wait.
    """

    def __init__(
        self,
        *,
        settings: Settings,
        tenants: TenantDirectory,
        metrics: Metrics,
        llm: LLM | None,
        nearest: OpenNearest | None = None,
        indexed_log: IndexedLog | None = None,
    ) -> None:
        self._contributions_topic = settings.topic(CONTRIBUTIONS.name)
        self._attempts = settings.merging.attempts
        self._tenants = tenants
        self._records = metrics.records
        self._llm = llm
        self._nearest = nearest
        self._indexed_log = indexed_log

    def is_erased(self, record: ConsumedRecord) -> bool:
        """Whether a record is a request for an entity that belonged to an erased user.

        Raises:
            TransientError: This process's control data is too old to decide.
        """
        try:
            request = MergeRequest.from_json(record.value or b"")
            return self._is_erased(request, self._operator_of(request)[0], record)
        except (RecordError, PoisonRecordError):
            return False  # it goes to the dead letters when it is handled

    def _is_erased(self, request: MergeRequest, entity_type: EntityType, record: ConsumedRecord) -> bool:
        is_own = belongs_to_user(entity_type, request.entity_key, request.user)
        return is_own and is_erased(self._tenants, request.tenant, request.user, record, MERGES)

    async def handle(self, record: ConsumedRecord) -> list[OutgoingRecord]:
        """Answers one request; skips requests for an entity that belonged to an erased user, and padding.

        Raises:
            NotReadyError: A lookup has to wait until the index has the notes before the request.
        """
        if record.key == PADDING:
            return []
        request = MergeRequest.from_json(record.value or b"")
        entity_type, operator = self._operator_of(request)
        if self._is_erased(request, entity_type, record):
            self._records.labels(STAGE, "erased").inc()
            return []
        asked = _Asked(request, entity_type, record)
        question = Question(await self._content(asked), request.part)
        outcome = await self._outcome(asked, operator, question)
        answer = Contribution(
            tenant=request.tenant,
            user=request.user,
            entity_type=request.entity_type,
            entity_key=request.entity_key,
            kind="merged",
            source=f"merges/{record.partition}",
            position=record.offset,
            merged=Merged(property=request.property, part=outcome.part, outcome=outcome.content),
            time=request.time,
            schema_name=request.schema_name,
            schema_revision=request.schema_revision,
            generation=request.generation,
        )
        key = encode_key(request.tenant, request.entity_type, request.entity_key)
        return [OutgoingRecord(self._contributions_topic, key, answer.to_json())]

    async def _content(self, asked: _Asked) -> dict[str, JsonValue]:
        """The question's content, with the memories that its lookups find."""
        request = asked.request
        if not request.lookups:
            return request.question
        return {**request.question, "found": cast(JsonValue, await self._found(asked, request.lookups))}

    async def _found(self, asked: _Asked, lookups: Sequence[Lookup]) -> list[dict[str, Any]]:
        if self._nearest is None:
            raise TransientError("this stage has no store for lookups", dependency="store")
        if self._indexed_log is not None and not self._indexed_log.holds_all_before(asked.record):
            self._records.labels(STAGE, "looked_up_early").inc()
            _log.warning(
                "looked_up_early", tenant=asked.request.tenant, property=asked.request.property, position=str(asked.record.position)
            )
        return await found_memories(self._nearest, asked.request, asked.entity_type, lookups)

    def _operator_of(self, request: MergeRequest) -> tuple[EntityType, LLMOperator]:
        schema = schema_of_record(self._tenants, request)
        entity_type = schema.entity_type(request.entity_type)
        bound = None if entity_type is None else bound_operator(entity_type, request.property)
        if entity_type is None or bound is None or not isinstance(bound.operator, LLMOperator):
            raise PoisonRecordError(
                "unknown_property",
                f"the schema {schema.name!r} of tenant {request.tenant!r} has no merged property "
                f"{request.entity_type}.{request.property}; add it, then redrive the dead letter",
            )
        return entity_type, bound.operator

    async def _outcome(self, asked: _Asked, operator: LLMOperator, question: Question) -> Outcome:
        request = asked.request
        if self._llm is None:
            return await self._by_rule(request, operator, question, "no_llm")
        try:
            if isinstance(operator, AgentText):
                return await self._run(self._llm, asked, operator, question)
            return await self._ask(self._llm, request, asked.entity_type, operator, question)
        except UnusableAnswerError as error:
            return await self._by_rule(request, operator, question, "bad_answer", error)
        except BudgetExceededError as error:
            if error.offline:
                return await self._by_rule(request, operator, question, "budget", error)
            raise TransientError(str(error), dependency="budget", retry_after_s=error.retry_after_s, counts_as_attempt=False) from error
        except InputRefusedError as error:
            return await self._by_rule(request, operator, question, "input_refused", error)
        except TransientModelError as error:
            raise transient(error) from error
        except ModelError as error:
            # A wrong key or model name is not the request's fault. While every call is refused, the breaker makes all requests wait.
            raise TransientError(
                str(error),
                dependency=error.dependency,
                concerns_record=not (isinstance(error, ModelConfigurationError) and error.refuses_credentials),
            ) from error

    async def _ask(self, llm: LLM, request: MergeRequest, entity_type: EntityType, operator: LLMOperator, question: Question) -> Outcome:
        """Retries after an unusable answer. Redeliveries number the attempts in the same way, for the answer cache."""
        prompt = await asyncio.to_thread(operator.prompt, question, subject=_subject_of(request, entity_type))
        attempt = 0
        while True:
            answer = await llm.complete(_llm_request(request, prompt, attempt=attempt))
            try:
                return await asyncio.to_thread(operator.outcome, question, answer.text, model=answer.model)
            except UnusableAnswerError as error:
                attempt += 1
                if attempt >= self._attempts:
                    raise
                _log.warning(
                    "merge_retried",
                    tenant=request.tenant,
                    property=request.property,
                    attempt=attempt,
                    finish_reason=answer.finish_reason,
                    error=str(error),
                )

    async def _run(self, llm: LLM, asked: _Asked, operator: AgentText, question: Question) -> Outcome:
        """Runs the loop of memory tools: one call of the model for each step, and one lookup for each search.

        A redelivery, and a search that had to wait for the index, run it again from its first step. The answer cache answers the steps that
        were asked before.
        """
        request, entity_type = asked.request, asked.entity_type
        loop = operator.begin(question)
        while not loop.is_done:
            if loop.lookup is not None:
                memories = await self._found(asked, [loop.lookup])
                loop = await asyncio.to_thread(operator.found, question, loop, memories)
                continue
            prompt = await asyncio.to_thread(operator.step, question, loop, subject=_subject_of(request, entity_type))
            answer = await llm.complete(_llm_request(request, prompt))
            loop = await asyncio.to_thread(operator.answered, question, loop, answer.text, model=answer.model)
        errors = sum("error" in each for each in loop.calls)
        self._records.labels(STAGE, "agent_steps").inc(loop.steps)
        self._records.labels(STAGE, "agent_calls").inc(len(loop.calls) - errors)
        self._records.labels(STAGE, "agent_call_errors").inc(errors)
        return operator.conclude(question, loop)

    async def _by_rule(
        self, request: MergeRequest, operator: LLMOperator, question: Question, reason: str, error: Exception | None = None
    ) -> Outcome:
        if error is not None:
            _log.warning("merged_by_rule", tenant=request.tenant, property=request.property, reason=reason, error=str(error))
        self._records.labels(STAGE, f"by_rule_{reason}").inc()
        return await asyncio.to_thread(operator.outcome_by_rule, question)


def _subject_of(request: MergeRequest, entity_type: EntityType) -> str:
    """The entity's type and key, and the property. Ids of users and sessions say nothing to a model."""
    parts = zip(entity_type.keys, entity_key_parts(request.entity_key), strict=False)
    named = [part for name, part in parts if name not in _UNTOLD_KEYS]
    of = f" of {', '.join(named)}" if named else ""
    return f"{request.entity_type.replace('_', ' ')}{of}, {request.property.replace('_', ' ')}"


def _llm_request(request: MergeRequest, prompt: Prompt, *, attempt: int = 0) -> LLMRequest:
    return LLMRequest(
        messages=(ChatMessage("system", prompt.system), ChatMessage("user", prompt.user)),
        tenant=request.tenant,
        stage=STAGE,
        purpose="merge",
        subject=entity_id(request.tenant, request.entity_type, request.entity_key, request.generation),
        json_schema=prompt.json_schema,
        max_tokens=prompt.max_tokens,
        attempt=attempt,
        deferrable=True,
        probes_refusals=True,
    )
