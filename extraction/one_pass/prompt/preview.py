"""A prompt and its tokens, for ``varve prompt``."""

from collections.abc import Callable
from dataclasses import dataclass

from extraction.one_pass.extraction_input import ExtractionInput
from extraction.one_pass.prompt.build import build_prompt
from extraction.one_pass.prompt.limits import PromptLimits
from extraction.one_pass.prompt.prefix import compile_prefix
from extraction.port import ExtractionContext
from memory.messages.extraction_view import extraction_view
from memory.records import Window
from memory.schema import MemorySchema
from memory.texts.text import estimate_tokens
from runtime.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptPreview:
    """A prompt's two parts and their tokens, as the counter given counts them."""

    prefix: str
    """The schema's part, which providers' prefix caches hold."""
    prefix_tokens: int
    body: str
    """The window's part; empty where no window was given."""
    body_tokens: int

    @property
    def text(self) -> str:
        """The whole prompt."""
        return f"{self.prefix}\n\n{self.body}" if self.body else self.prefix

    @property
    def tokens(self) -> int:
        """Tokens of the whole prompt."""
        return self.prefix_tokens + self.body_tokens


def preview_prompt(
    schema: MemorySchema,
    *,
    settings: Settings,
    window: Window | None = None,
    count_tokens: Callable[[str], int] = estimate_tokens,
) -> PromptPreview:
    """The prompt that the one-pass extractor sends.

    Args:
        schema: Compiled to the prefix.
        settings: The caps of the parts, and the model's context.
        window: The window to extract from; None: the prefix alone.
        count_tokens: A tokenizer's count, where one is at hand.

    Raises:
        ModelConfigurationError: If the schema's prompt does not fit into the model's context.
    """
    prefix = compile_prefix(schema)
    limits = PromptLimits.of(settings.extraction).within(settings.llm, prefix_tokens=estimate_tokens(prefix))
    body = ""
    if window is not None:
        context = ExtractionContext()
        shown = window.model_copy(update={"messages": list(extraction_view(window).messages)})
        body = build_prompt(ExtractionInput(shown, schema, context.recalled_hashes), context, limits).body
    return PromptPreview(prefix=prefix, prefix_tokens=count_tokens(prefix), body=body, body_tokens=count_tokens(body))
