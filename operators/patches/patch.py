"""PATCH: a text that SEARCH/REPLACE patches edit, without an LLM (VikingMem 3.1; one patch: :mod:`operators.patches.patch_edit`).

A state is a base text and the newest patches, which are replayed over the base in the order of their event times. So a late patch is
applied at its own time, and a retracted one leaves no trace. The oldest patches settle: they are merged into the base and can no longer be
retracted, only removed for good with the lines that they wrote. If the text that a patch edited was retracted, so that its SEARCH matches
less closely than at first, the patch has no effect until that text returns: other similar text is another fact.

In whichever order patches arrive, an older one never overwrites the text of a newer one (:mod:`operators.patches.dated_text`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final

from memory.schema.model import ValueType
from memory.schema.operator_specs import OperatorSpec, built_in
from operators.errors import RefusedChangeError
from operators.operator import Operand, Operator, UnknownValue, Value
from operators.patches.dated_text import DatedText
from operators.patches.patch_edit import MAX_TEXT, UNKNOWN, Nearness, Patch, value_of
from operators.work import MAX_RETRACTION_WORK, WorkBudget, WorkExceededError

MAX_RECENT: Final = 16
"""Patches that can be retracted."""
MAX_RECENT_TEXT: Final = 16_000
"""Their characters in all."""

Offsets = dict[str, int]
"""The UTC offset of each time, in microseconds."""

State = dict[str, Any]
"""``base``, ``recent`` patches, the resulting ``text``, and ``settled``: the newest time in the base.

A patch is ``[time, id, search, replace]``; if it has a SEARCH, ``[distance, cuts]`` follows: how closely that first matched.

``base_since`` and ``since`` have a time for each line of the base and of the text: the event time since which the line holds.
``overtakes``: a recent patch edits text that an older patch, which arrived later, had replaced. ``offsets``: UTC offsets by time, unless 0.
"""


def patch_of(value: object, *, time: int, source_id: str, offset: int = 0) -> Patch:
    """The patch that a change carries.

    Args:
        value: ``{"search": ..., "replace": ...}``; without ``search`` it is appended, with null it replaces the whole text.
        time: The change's event time in microseconds.
        source_id: Names the patch.
        offset: The UTC offset of the event time, in microseconds.

    Raises:
        RefusedChangeError: ``not_a_patch``, ``empty_patch`` or ``patch_too_long``.
    """
    search, put = (value.get("search", ""), value.get("replace")) if isinstance(value, Mapping) else (None, None)
    if not isinstance(value, Mapping) or not isinstance(search, str | None) or not isinstance(put, str):
        raise RefusedChangeError("not_a_patch")
    if search == "" and not put.strip():
        raise RefusedChangeError("empty_patch")
    if max(len(search or ""), len(put)) > MAX_TEXT:
        raise RefusedChangeError("patch_too_long")
    return Patch(time, source_id, search, put, offset=offset)


def apply(state: State | None, patch: Patch, value_type: ValueType, work: WorkBudget | None = None) -> State:
    """Applies a patch at its own time.

    Args:
        state: The state so far; None if there is none.
        patch: The patch to apply.
        value_type: Value type of the property.
        work: Pays for all searches, those of the patches that are applied again included; None: the patch has its own allowance.

    Raises:
        RefusedChangeError: As :meth:`operators.patches.dated_text.DatedText.patched`, or ``patch_known`` if the patch was applied already.
    """
    work = work or WorkBudget()
    base, recent, settled = _unpack(state)
    if any(each.id == patch.id for each in recent):
        raise RefusedChangeError("patch_known")
    before = [each for each in recent if each.time <= patch.time]
    after = recent[len(before) :]
    if state is None or after:
        patched = _replayed(base, before, value_type, work).patched(patch, value_type, work)
    else:
        patched = _appended(state, base, patch, before, value_type, work)
    known = replace(patch, nearness=patched.nearness)
    changed = _settled(base, [*before, known, *after], settled, _replayed(patched, after, value_type, work), value_type, work)
    return _with_offsets(changed, state, patch)


def retract(state: State | None, patch: Patch, value_type: ValueType, work: WorkBudget | None = None) -> State | None:
    """Retracts a patch.

    Args:
        state: The state so far; None if there is none.
        patch: The patch to retract.
        value_type: Value type of the property.
        work: Pays for the patches that are applied again; None: the retraction has its own allowance. A retraction is never refused
            for its cost. Once nothing is left, the patches that search have no effect until the next change applies them again.

    Returns:
        The state as if the patch had never been applied; None once nothing is left.

    Raises:
        RefusedChangeError: ``patch_settled`` if it can no longer be retracted, ``patch_unknown`` if it was never applied.
    """
    base, recent, settled = _unpack(state)
    kept = [each for each in recent if each.id != patch.id]
    if len(kept) == len(recent):
        raise RefusedChangeError("patch_settled" if settled is not None and patch.time <= settled else "patch_unknown")
    if not kept and not base.text and settled is None:
        return None
    work = work or WorkBudget(MAX_RETRACTION_WORK)
    return _with_offsets(_state(base, kept, settled, _replayed(base, kept, value_type, work, is_refusable=False)), state)


def remove(state: State | None, patch: Patch, value_type: ValueType, work: WorkBudget | None = None) -> State | None:
    """Retracts a patch for good. Of one that has settled, the lines go that have stood in the base since its time.

    Args:
        state: The state so far; None if there is none.
        patch: The patch to remove.
        value_type: Value type of the property.
        work: As for :func:`retract`.

    Returns:
        The state without the patch; None once no text and no patch is left.

    Raises:
        RefusedChangeError: ``patch_settled`` if newer patches have replaced all its lines, ``patch_unknown`` if it was never applied.
    """
    try:
        after = retract(state, patch, value_type, work)
    except RefusedChangeError as error:
        if error.reason != "patch_settled":
            raise
    else:
        return None if after is None or not (after["base"] or after["recent"]) else after
    base, recent, settled = _unpack(state)
    kept = [line for line in base.text.splitlines() if base.since[line] != patch.time]
    if len(kept) == len(base.text.splitlines()):
        raise RefusedChangeError("patch_settled")
    base = DatedText("\n".join(kept), {line: base.since[line] for line in kept})
    if not recent and not base.text:
        return None
    text = _replayed(base, recent, value_type, work or WorkBudget(MAX_RETRACTION_WORK), is_refusable=False)
    return _with_offsets(_state(base, recent, settled, text), state)


def searched_text(state: State | None, patches: Sequence[Patch], retracted: int) -> int:
    """A cheap upper estimate of the characters searched to apply and retract patches.

    Args:
        state: The state so far; None if there is none.
        patches: The patches to apply.
        retracted: The number of patches to retract.
    """
    kept = [] if state is None else state["recent"]
    searching = sum(bool(search) for _, _, search, *_ in kept)
    length = (0 if state is None else len(state["text"])) + sum(len(each.replace) for each in patches)
    is_late = bool(kept) and any(each.time < kept[-1][0] for each in patches)
    searches = sum(bool(each.search) for each in patches) + searching * (retracted + is_late)
    return min(length, MAX_TEXT) * searches


def text_of(state: State) -> str:
    """The text with all patches applied."""
    return str(state["text"])


def since_of(state: State) -> list[int]:
    """For each line of the text that is not blank, the local event time of the patch that wrote it, in microseconds."""
    lines = zip(text_of(state).splitlines(), state["since"], strict=True)
    offsets: Offsets = state.get("offsets", {})
    return [since + offsets.get(str(since), 0) for line, since in lines if line.strip()]


def _with_offsets(state: State, before: State | None, added: Patch | None = None) -> State:
    """A state with the UTC offsets of the times in it; of patches of one time the greatest.

    Args:
        state: The new state.
        before: The state before; None: there was none.
        added: A patch that the new state has in addition.
    """
    offsets: Offsets = dict((before or {}).get("offsets", {}))
    if added is not None and added.offset:
        offsets[str(added.time)] = max(added.offset, offsets.get(str(added.time), added.offset))
    if not offsets:
        return state
    used = {str(time) for time in (*state["base_since"], *state["since"], *(row[0] for row in state["recent"]))}
    offsets = {time: offset for time, offset in sorted(offsets.items()) if time in used}
    return {**state, "offsets": offsets} if offsets else state


def _appended(state: State, base: DatedText, patch: Patch, recent: Sequence[Patch], value_type: ValueType, work: WorkBudget) -> DatedText:
    """Applies the newest patch to the current text; replays the recent patches only if that is not enough."""
    text = replace(DatedText.of(state["text"], state["since"]), overtakes=state.get("overtakes", False))
    try:
        return text.patched(patch, value_type, work)
    except RefusedChangeError as error:
        if error.reason != "no_similar_span" or not recent:
            raise
    # Only a replay shows the earlier versions of the lines.
    replayed = _replayed(base, recent, value_type, work)
    if replayed.text == text.text:
        work.begin_patch()
        return replayed.overtaken(patch, value_type, work)
    return replayed.patched(patch, value_type, work)


def _replayed(
    text: DatedText, patches: Sequence[Patch], value_type: ValueType, work: WorkBudget, *, is_refusable: bool = True
) -> DatedText:
    """The text with patches applied, one after the other; one that is refused has no effect.

    Args:
        text: The text before.
        patches: The patches to apply.
        value_type: Value type of the property.
        work: Pays for the searches.
        is_refusable: Whether the change for which they are applied is refused once no work is left.
    """
    for patch in patches:
        try:
            text = text.patched(patch, value_type, work)
        except WorkExceededError as error:
            if is_refusable and not error.is_patch:
                raise
        except RefusedChangeError:
            continue
    return text


def _settled(base: DatedText, recent: list[Patch], settled: int | None, text: DatedText, value_type: ValueType, work: WorkBudget) -> State:
    """The state, with its oldest patches settled while there are too many.

    The base has no earlier versions of its lines. So a patch settles together with those that edit the text that it had replaced.
    """
    size = sum(_length(each) for each in recent)
    is_whole = True
    while recent and (len(recent) > MAX_RECENT or size > MAX_RECENT_TEXT or not is_whole):
        oldest, *recent = recent
        size -= _length(oldest)
        base = _replayed(base, [oldest], value_type, work)
        settled = oldest.time if settled is None else max(settled, oldest.time)
        if text.overtakes:
            over = _replayed(DatedText(base.text, base.since), recent, value_type, work)
            is_whole = over.text == text.text
            text = over if is_whole else text
    return _state(base, recent, settled, text)


def _length(patch: Patch) -> int:
    return len(patch.search or "") + len(patch.replace)


def _unpack(state: State | None) -> tuple[DatedText, list[Patch], int | None]:
    if state is None:
        return DatedText("", {}), [], None
    base = DatedText.of(state["base"], state["base_since"])
    return base, [_recent(*each) for each in state["recent"]], state.get("settled")


def _recent(time: int, patch_id: str, search: str | None, put: str, nearness: Sequence[int] = UNKNOWN) -> Patch:
    return Patch(time, patch_id, search, put, Nearness(*nearness))


def _row(patch: Patch) -> list[Any]:
    """The patch as :func:`_recent` reads it."""
    row = [patch.time, patch.id, patch.search, patch.replace]
    return row if patch.nearness is None or patch.nearness == UNKNOWN else [*row, list(patch.nearness)]


def _state(base: DatedText, recent: Sequence[Patch], settled: int | None, text: DatedText) -> State:
    state: State = {
        "base": base.text,
        "base_since": base.times,
        "recent": [_row(each) for each in recent],
        "text": text.text,
        "since": text.times,
    }
    if settled is not None:
        state["settled"] = settled
    if text.overtakes:
        state["overtakes"] = True
    return state


class PatchedText(Operator):
    """A text, or a value that is written as one, edited by SEARCH/REPLACE patches: see the module's docstring."""

    spec: ClassVar[OperatorSpec] = built_in("PATCH")

    def apply(self, state: State | None, operand: Operand) -> State:
        """See :meth:`Operator.apply`."""
        return apply(state, _patch_of(operand), self._configuration.value_type, operand.work)

    def retract(self, state: State | None, operand: Operand) -> State | None:
        """See :meth:`Operator.retract`; a patch that has settled is refused."""
        return retract(state, _patch_of(operand), self._configuration.value_type, operand.work)

    def remove(self, state: State | None, operand: Operand) -> State | None:
        """See :meth:`Operator.remove`; the lines of a settled patch are removed."""
        return remove(state, _patch_of(operand), self._configuration.value_type, operand.work)

    def value(self, state: State) -> Value:
        """The text as a value of the property's type."""
        text = text_of(state)
        if not text.strip():
            return None
        value = value_of(text, self._configuration.value_type)
        return UnknownValue.UNKNOWN if value is None else value

    def since(self, state: State) -> list[int]:
        """The local time since which each line of the text holds that is not blank, in microseconds."""
        return since_of(state)


def _patch_of(operand: Operand) -> Patch:
    return patch_of(operand.value, time=operand.time, source_id=operand.source_id, offset=operand.offset)
