"""The responses of blocks show their records as they are."""

from api.block_responses import BlockEdit
from memory.records import TextEdit


def test_an_edit_is_shown_with_its_records_fields() -> None:
    assert list(BlockEdit.model_fields) == list(TextEdit.model_fields)
    for name, field in TextEdit.model_fields.items():
        assert (BlockEdit.model_fields[name].default, BlockEdit.model_fields[name].is_required()) == (field.default, field.is_required()), (
            name
        )
