"""Has a model expand a query."""

from typing import Final

from models.llm.port import LLM
from retrieval.expansion.sentences import parse_sentences, prompt_of
from retrieval.model_calls import AskedModel
from runtime.settings import ExpansionSettings

PURPOSE: Final = "expansion"


class Expansion:
    """Expands queries.

    Args:
        llm: The model; None: no endpoint is set.
        settings: Bounds of the calls.
    """

    def __init__(self, *, llm: LLM | None, settings: ExpansionSettings) -> None:
        self._model = AskedModel(llm, settings=settings, purpose=PURPOSE)

    async def of(self, tenant: str, query: str, *, user: str | None = None) -> tuple[str, ...]:
        """Sentences to search beside a query.

        Args:
            tenant: Whose tokens it takes.
            query: The query's text.
            user: Whose query it is; None: no user's in particular.

        Raises:
            RecallModelError: If the model may not be asked, refuses, or gives no sentence.
            models.errors.TransientModelError: If the endpoint is away.
        """
        return parse_sentences(await self._model.ask(tenant, prompt_of(query), user=user), query)

    async def close(self) -> None:
        """Closes the model's connections."""
        await self._model.close()
