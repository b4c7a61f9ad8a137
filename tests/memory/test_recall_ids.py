"""A recall's id shows for whom it was made."""

import uuid

import pytest

from memory.recall_ids import is_recall_of, new_recall_id


@pytest.mark.parametrize("user", ["ann", None])
def test_an_id_belongs_to_its_tenant_and_user(user: str | None) -> None:
    recall = new_recall_id("acme", user)
    assert (uuid.UUID(recall).version, uuid.UUID(recall).variant) == (8, uuid.RFC_4122)
    assert is_recall_of(recall, "acme", user)
    assert not is_recall_of(recall, "umbrella", user)
    assert not is_recall_of(recall, "acme", "bob")
    assert not is_recall_of(recall, "acme", None if user else "ann")


@pytest.mark.parametrize("text", ["", "r", "b7a5c1c2-53c9-4f3f-9f43-7d1f9b0f3d7e", str(uuid.UUID(int=0)), "ä" * 32])
def test_any_other_text_is_of_no_recall(text: str) -> None:
    assert not is_recall_of(text, "acme", "ann")


def test_each_recall_has_another_id() -> None:
    assert len({new_recall_id("acme", "ann") for _ in range(100)}) == 100
