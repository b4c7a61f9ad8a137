"""Answers the questions of entities' operators with the handler of the merging stage and a real store, without Kafka."""

from dataclasses import dataclass
from typing import Final

from control import ControlState, Draft
from control.tenant_changes import add_tenant
from control.tenants import TenantDirectory
from control.view import FixedControlView
from evaluation.locomo import TENANT
from evaluation.recall.memories import operator_of
from memory.keys import encode_key
from memory.records import Contribution, MergeRequest
from memory.schema import MemorySchema
from memory.texts.text import estimate_tokens
from memory.topics import MERGES
from models.embedding.port import Embedder
from models.llm.port import LLM
from operators.llm.llm_operator import Question
from retrieval.nearest import NearestMemories
from runtime.clocks import ManualClock
from runtime.metrics import metrics
from runtime.settings import Settings
from stores.port import MemoryStore
from streams.engine.records import ConsumedRecord
from streams.stages.merging.handler import MergingHandler
from streams.stages.merging.lookups import found_memories

_ANSWER_TOKENS: Final = 60
"""Assumed tokens of an answer whose text the rule does not write: a decision about neighbours, or a summary."""


@dataclass(frozen=True, slots=True)
class PromptSize:
    """The tokens of a question to a model. The answer's are assumed."""

    prompt: int
    completion: int


class LocalMerging:
    """The merging stage of one tenant in this process.

    Args:
        schema: The memory types.
        settings: The settings in force.
        store: The memories that lookups search.
        embedder: The model that the memories were embedded with.
        clock: Its time determines which memories are hidden or expired.
        llm: Answers the questions. None: the operators' rules do.
    """

    def __init__(
        self,
        schema: MemorySchema,
        settings: Settings,
        *,
        store: MemoryStore,
        embedder: Embedder,
        clock: ManualClock,
        llm: LLM | None,
    ) -> None:
        state = ControlState()
        draft = Draft(state)
        add_tenant(draft, TENANT, schema=schema)
        state.put(each.after for each in draft.changes())
        search = NearestMemories(store=store, embedder=embedder, clock=clock)

        async def nearest() -> NearestMemories:
            return search

        self._schema = schema
        self._nearest = nearest
        self._offset = 0
        tenants = TenantDirectory(FixedControlView(state))
        self._handler = MergingHandler(settings=settings, tenants=tenants, metrics=metrics(), llm=llm, nearest=nearest)

    async def resolved(self, request: MergeRequest) -> MergeRequest:
        """The request with the memories that its lookups find, instead of the lookups."""
        entity_type = self._schema.entity_type(request.entity_type)
        if not request.lookups or entity_type is None:
            return request
        found = await found_memories(self._nearest, request, entity_type, request.lookups)
        return request.model_copy(update={"question": {**request.question, "found": found}, "lookups": None})

    async def answer(self, request: MergeRequest) -> Contribution:
        """The answer to a resolved request, as the stage sends it to the entity.

        Raises:
            streams.errors.TransientError: If the model cannot be asked.
        """
        self._offset += 1
        key = encode_key(request.tenant, request.entity_type, request.entity_key)
        at = request.time.timestamp()
        (sent,) = await self._handler.handle(ConsumedRecord(MERGES.name, 0, self._offset, key, request.to_json(), (), at))
        return Contribution.from_json(sent.value or b"")


def prompt_size(request: MergeRequest, schema: MemorySchema) -> PromptSize | None:
    """The tokens that a model would read and write for a request; None if no operator asks.

    Args:
        request: The request, with the memories that its lookups found.
        schema: The memory types.
    """
    operator = operator_of(request, schema)
    if operator is None:
        return None
    question = Question(request.question, request.part)
    prompt = operator.prompt(question, subject=f"{request.entity_type}, {request.property}")
    written = operator.outcome_by_rule(question).content.get("text")
    completion = estimate_tokens(written) if isinstance(written, str) and written else _ANSWER_TOKENS
    if prompt.max_tokens is not None:
        completion = min(completion, prompt.max_tokens)
    return PromptSize(estimate_tokens(prompt.system) + estimate_tokens(prompt.user), completion)
