"""Limits of the parts of a prompt. Together they bound it, however long the history is (docs/internals/architecture.md, invariant 8)."""

from dataclasses import dataclass
from typing import Final, Self

from memory.texts.text import estimate_tokens
from models.errors import ModelConfigurationError
from runtime.settings import ExtractionSettings, LLMSettings

ENTITIES_PER_TYPE: Final = 5
"""VikingMem 3.1: the top 5 candidates that a patch may go to."""

_FRAME_TOKENS: Final = 300
"""Fences, headings, and the words that ask for a continuation or a repair."""
_SMALLEST_WINDOW: Final = 256
_ELLIPSIS: Final = " […] "
_HEAD_SHARE: Final = 0.7
_MAX_CHARACTERS_PER_TOKEN: Final = 16
_SAFETY_FACTOR: Final = 1.2
"""An estimate of tokens may be so much too low."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptLimits:
    """Caps, in estimated tokens (:func:`memory.texts.text.estimate_tokens`)."""

    summary_tokens: int
    """Tokens of the session's summary."""
    entity_tokens: int
    """Tokens of each entity in the prompt."""
    entities_tokens: int
    """Tokens of all entities in the prompt."""
    window_tokens: int
    """Tokens of the window's messages; longer ones are cut, the longest first."""

    def __post_init__(self) -> None:
        if min(self.summary_tokens, self.entity_tokens, self.entities_tokens) < 0 or self.window_tokens < 1:
            raise ValueError(f"a prompt's caps must not be negative, and its window needs a token at least, got {self}")

    @classmethod
    def of(cls, settings: ExtractionSettings) -> Self:
        """The caps that the settings ask for."""
        return cls(
            summary_tokens=settings.summary_tokens,
            entity_tokens=settings.entity_tokens,
            entities_tokens=settings.entities_tokens,
            window_tokens=settings.window_tokens,
        )

    def within(self, llm: LLMSettings, *, prefix_tokens: int) -> Self:
        """The caps that fit into a model's context together with the prefix, an answer, and that answer once more in a continuation.

        Args:
            llm: The model's context and longest answer.
            prefix_tokens: Number of tokens of the prompt's fixed part.

        Raises:
            ModelConfigurationError: If no window of use fits.
        """
        room = int(llm.context_tokens / _SAFETY_FACTOR) - 2 * llm.max_completion_tokens - prefix_tokens - _FRAME_TOKENS
        if room < _SMALLEST_WINDOW:
            raise ModelConfigurationError(
                f"a context of {llm.context_tokens} tokens has no space for a window after the prompt's fixed part "
                f"({prefix_tokens} tokens) and twice the longest answer ({llm.max_completion_tokens}): raise VARVE_LLM__CONTEXT_TOKENS "
                "to what the model has, lower VARVE_LLM__MAX_COMPLETION_TOKENS, or shorten the schema's descriptions"
            )
        summary = min(self.summary_tokens, room // 10)
        entities = min(self.entities_tokens, room * 3 // 10)
        return type(self)(
            summary_tokens=summary,
            entity_tokens=min(self.entity_tokens, entities),
            entities_tokens=entities,
            window_tokens=min(self.window_tokens, room - summary - entities),
        )


def truncate(text: str, tokens: int) -> str:
    """The text in at most so many estimated tokens: its beginning and, shorter, its end."""
    most = tokens * _MAX_CHARACTERS_PER_TOKEN
    if len(text) <= most and estimate_tokens(text) <= tokens:
        return text
    low, high = 0, min(len(text), most)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if estimate_tokens(_shortened(text, middle)) <= tokens else (low, middle - 1)
    return _shortened(text, low) if low else ""


def _shortened(text: str, characters: int) -> str:
    head = int(characters * _HEAD_SHARE)
    return f"{text[:head].rstrip()}{_ELLIPSIS}{text[len(text) - (characters - head) :].lstrip()}"
