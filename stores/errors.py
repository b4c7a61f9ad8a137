"""Errors of the vector store and of the process that owns the Edge shard."""

from memory.errors import VarveError


class StoreError(VarveError):
    """Base of this package's errors."""


class StoreUnavailableError(StoreError):
    """The vector store does not respond. A retry may succeed."""


class CollectionMissingError(StoreUnavailableError):
    """The collection does not exist yet, or is being rebuilt."""


class StoreTooOldError(StoreUnavailableError):
    """The server cannot store the vectors, or would silently return wrong results. Nothing is written or read until it is updated."""


class StoreRejectedError(StoreError):
    """The vector store, or the check before it, refuses the request. A retry will be refused too."""


class ModelMismatchError(StoreRejectedError):
    """The store's points are from another embedding model, vector format, payload version or lexical analyzer."""


class StoreBehindError(StoreError):
    """The store lacks records that were written to it: it was emptied, or restored from a backup."""


class OwnershipError(StoreError):
    """The folder or the socket of an Edge shard belongs to another process, or cannot be used."""
