"""Errors of the vector store and of the process that owns the Edge shard."""

from memory.errors import VarveError


class StoreError(VarveError):
    """Base of this package's errors."""


class StoreUnavailableError(StoreError):
    """The vector store does not answer. A later try may succeed."""


class CollectionMissingError(StoreUnavailableError):
    """The collection was not created yet, or is being rebuilt."""


class StoreTooOldError(StoreUnavailableError):
    """The server cannot keep the vectors, or would give wrong answers without a word. Nothing is written or read until it is updated."""


class StoreRejectedError(StoreError):
    """The vector store, or the check before it, refuses the request. The same request will always be refused."""


class ModelMismatchError(StoreRejectedError):
    """The store's points were made by another embedding model or lexical analyzer, or their vectors in another way."""


class StoreBehindError(StoreError):
    """The store lacks what was written to it before: it was emptied, or restored from a backup."""


class OwnershipError(StoreError):
    """The folder or the socket of an Edge shard belongs to another process, or cannot be used."""
