"""Repairs the patches of an answer where they repeat each other, or search a field that has no text."""

from collections.abc import Sequence
from dataclasses import replace

from extraction.drafts import DropCounter, PatchDraft
from extraction.one_pass.answer import form
from extraction.statements import Statement, differ_in_fact, says_all_of
from memory.records import Memory
from memory.schema import MemorySchema


def repaired_patches(
    patches: Sequence[PatchDraft], schema: MemorySchema, entities: Sequence[Memory], tally: DropCounter
) -> tuple[PatchDraft, ...]:
    """The patches, in their order.

    A line that another patch adds to the same field in more words is left out, and counted as ``repeated``. A patch that searches a field
    without a text adds to it: the model took what it searches from the messages. Only an entity without a key is known to have no text,
    since of others the prompt shows the nearest.

    Args:
        patches: The patches of one answer.
        schema: The schema.
        entities: Those in the prompt.
        tally: Counts what is left out.
    """
    texts = {
        (each.type, each.entity_key, name) for each in entities for name, value in each.properties.items() if value not in (None, "", [])
    }
    without_key = {each.name for each in form.patched_types(schema) if not form.named_key_parts(each)}
    repaired: list[PatchDraft] = []
    for patch in patches:
        field = _field_of(patch)
        is_empty = patch.entity_type in without_key and field not in texts
        repaired.append(replace(patch, search="") if is_empty and patch.replace else patch)
        texts.add(field)
    added = [each for each in repaired if not each.search]
    kept = tuple(each for each in repaired if each.search or not any(_says_more(other, each) for other in added))
    tally.drop("patch", "repeated", len(repaired) - len(kept))
    return kept


def _field_of(patch: PatchDraft) -> tuple[str, str | None, str]:
    return patch.entity_type, patch.entity_key, patch.field


def _says_more(other: PatchDraft, patch: PatchDraft) -> bool:
    """Whether one patch adds a line with all the words of the line that another one adds, and more."""
    if other is patch or _field_of(other) != _field_of(patch) or len(other.replace) <= len(patch.replace) or "\n" in patch.replace:
        return False
    one, another = (Statement(each.replace, {}, each.event_time) for each in (other, patch))
    return bool(another.words) and says_all_of(one, another) and not differ_in_fact(one, another)
