"""A model whose answer takes no time, so that only the work on the answer does."""

from models.llm.port import LLMAnswer, LLMRequest


class ImmediateLLM:
    """Gives one answer to every request, without a wait.

    Args:
        answer: The answer's text.
    """

    model = "immediate"

    def __init__(self, answer: str) -> None:
        self._answer = answer

    async def complete(self, request: LLMRequest) -> LLMAnswer:
        """Answers at once."""
        return LLMAnswer(text=self._answer, model=self.model)

    async def close(self) -> None:
        """Does nothing: it has no connection."""
