"""The stores of the tests in this folder."""

from tests.stores.fixtures import edge_owner_process, edge_store, store

__all__ = ["edge_owner_process", "edge_store", "store"]
