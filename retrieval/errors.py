"""Errors of the vector store and its owner process."""

from memory.errors import VarveError


class RetrievalError(VarveError):
    """Base of this package's errors."""


class StoreUnavailableError(RetrievalError):
    """The vector store does not answer. A later try may succeed."""


class CollectionMissingError(StoreUnavailableError):
    """The collection was not created yet, or is being rebuilt."""


class StoreTooOldError(StoreUnavailableError):
    """The server cannot keep the vectors, or would give wrong answers without a word. Nothing is written or read until it is updated."""


class StoreRejectedError(RetrievalError):
    """The vector store, or the check before it, refuses the request. The same request will always be refused."""


class ModelMismatchError(StoreRejectedError):
    """The store's points were made by another embedding model or lexical analyzer, or their vectors in another way."""


class StoreBehindError(RetrievalError):
    """The store lacks what was written to it before: it was emptied, or restored from a backup."""


class OwnershipError(RetrievalError):
    """The folder or the socket of an Edge shard belongs to another process, or cannot be used."""


class RecallFailedError(RetrievalError):
    """No path of a recall can answer as things are set up. Asking again does not help; an operator does."""


class ProfilesError(RetrievalError):
    """A file of ranking profiles cannot be taken; says where it is wrong and why."""


class TrainingError(RetrievalError):
    """A ranking cannot be fitted to what was recorded; says how much there is, and how much it takes."""


class RecallLateError(RetrievalError):
    """A recall, or a path of it, was not done by its deadline. Later, or with more time, it may be."""
