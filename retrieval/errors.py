"""What goes wrong between Varve and its stores."""

from memory.errors import VarveError


class RetrievalError(VarveError):
    """Base of this package's errors."""


class StoreUnavailableError(RetrievalError):
    """The vector store does not answer; it may pass by itself."""


class StoreRejectedError(RetrievalError):
    """The vector store, or the check before it, refuses the request: it will not pass by itself."""


class ModelMismatchError(StoreRejectedError):
    """The store's points were made by another embedding model, or have another dimension."""
