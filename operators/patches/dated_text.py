"""A text with the start time of each line, so that patches may arrive in any order and the newer fact wins. Pure.

Patches are applied in the order of their event times. A late patch is applied before the newer ones, which were written without it. It may
replace a line that a newer patch searches for. Then the newer patch edits the former line, and the result replaces the line of the late
patch.
"""

from dataclasses import dataclass, field
from typing import Final

from memory.schema.model import ValueType
from operators.errors import RefusedChangeError
from operators.patches.patch_edit import Edit, Nearness, Patch, edit, located, spellings
from operators.work import WorkBudget, WorkExceededError

_NOT_FOUND: Final = "no_similar_span"


@dataclass(frozen=True, slots=True)
class DatedText:
    """A text and the times since which its lines hold."""

    text: str
    since: dict[str, int]
    """The event time of the patch that wrote each line, in microseconds since 1970."""
    former: dict[str, str | None] = field(default_factory=dict)
    """The successor of each replaced line; None: it was removed."""
    overtakes: bool = False
    """Whether a patch edited a line that an older patch had replaced."""
    nearness: Nearness | None = None
    """The nearness of the last applied patch's SEARCH."""

    @classmethod
    def of(cls, text: str, times: list[int]) -> "DatedText":
        """Creates it from a text and its :attr:`times`."""
        return cls(text, dict(zip(text.splitlines(), times, strict=True)))

    @property
    def times(self) -> list[int]:
        """The time since which each line holds."""
        return [self.since[line] for line in self.text.splitlines()]

    def patched(self, patch: Patch, value_type: ValueType, work: WorkBudget) -> "DatedText":
        """The text after a patch that is not older than the applied ones. The patch gets its own share of the work budget.

        Raises:
            RefusedChangeError: As :func:`operators.patches.patch_edit.edit`, or ``newer_fact`` if the patch would remove a line that is
                newer than the patch.
        """
        work.begin_patch()
        try:
            made = edit(self.text, patch, value_type, work)
        except RefusedChangeError as error:
            if error.reason != _NOT_FOUND:
                raise
            return self.overtaken(patch, value_type, work)
        return self._with(made, patch, overtakes=self.overtakes)

    def overtaken(self, patch: Patch, value_type: ValueType, work: WorkBudget) -> "DatedText":
        """The text after a patch whose SEARCH is only in a former line. The edited former line replaces its successor.

        Raises:
            RefusedChangeError: As :meth:`patched`.
        """
        return self._with(self._with_former_line(patch, value_type, work), patch, overtakes=True)

    def _with(self, made: Edit, patch: Patch, *, overtakes: bool) -> "DatedText":
        text = made.text
        since = {line: self.since.get(line, patch.time) for line in text.splitlines()}
        removed = [line for line in self.since if line not in since]
        if patch.search is None:
            # A correction replaced the whole text. The removed lines were wrong, so no patch may edit them.
            return DatedText(text, since, {}, overtakes, made.nearness)
        if any(self.since[line] > patch.time for line in removed):
            raise RefusedChangeError("newer_fact")
        former = self.former
        if former or removed:
            added = next((line for line in since if line not in self.since), None)
            former = {line: successor for line, successor in former.items() if line not in since} | dict.fromkeys(removed, added)
        return DatedText(text, since, former, overtakes, made.nearness)

    def _with_former_line(self, patch: Patch, value_type: ValueType, work: WorkBudget) -> Edit:
        line = self._former_line(patch, value_type, work)
        new = edit(line, patch, value_type, work)
        if not new.text.strip():
            # The line that the patch removes does not exist any more.
            raise RefusedChangeError(_NOT_FOUND)
        lines = self.text.splitlines()
        present = set(lines)
        successor = self.former[line]
        while successor is not None and successor not in present:
            successor = self.former.get(successor)
        at = len(lines) if successor is None else lines.index(successor)
        lines[at : at + 1] = [each for each in new.text.splitlines() if each not in present or each == successor]
        # Applied as an append to an empty text, which checks the limits and the type.
        whole = edit("", Patch(patch.time, patch.id, None, "\n".join(lines)), value_type, work)
        return Edit(whole.text, new.nearness)

    def _former_line(self, patch: Patch, value_type: ValueType, work: WorkBudget) -> str:
        best: tuple[int, str] | None = None
        pairs = list(spellings(patch, value_type, work)) if self.former else []
        for line in self.former:
            try:
                span, _ = located(line, pairs, patch.nearness, work)
            except WorkExceededError:
                raise
            except RefusedChangeError:
                continue
            if best is None or span.distance < best[0]:
                best = span.distance, line
        if best is None:
            raise RefusedChangeError(_NOT_FOUND)
        return best[1]
