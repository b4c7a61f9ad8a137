"""What a backend says of a batch that one text may have spoiled: with it the batcher looks for that text."""

from models.errors import InputRefusedError, TransientModelError


class InputTooLongError(InputRefusedError):
    """The model will not take so long a text; it may take the beginning of it."""


class UnusableVectorError(TransientModelError):
    """A vector holds what is no finite number, or could not be sent for it. The other texts of the batch may have good ones."""
