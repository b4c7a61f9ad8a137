"""A text that knows of each line since when it holds, so that patches may come in any order: the newer fact stays. Pure.

Patches are applied in the order of their event times. One that comes late is put before those that are newer, which were written without
it. It may have replaced what a newer one searches for. Then the newer one edits what stood there before, and that takes the place of what
the late one put.
"""

from dataclasses import dataclass, field
from typing import Final

from memory.schema.model import ValueType
from operators.errors import RefusedChangeError
from operators.patch_edit import Edit, Nearness, Patch, edit, located, spellings
from operators.work import Work, WorkExceededError

_NOT_FOUND: Final = "no_similar_span"


@dataclass(frozen=True, slots=True)
class DatedText:
    """A text, and since when its lines hold."""

    text: str
    since: dict[str, int]
    """By line, the event time of the patch that put it, in microseconds since 1970."""
    former: dict[str, str | None] = field(default_factory=dict)
    """By line that was replaced, what took its place; None: nothing did."""
    overtakes: bool = False
    """Whether a patch has edited a line that an older one had replaced."""
    nearness: Nearness | None = None
    """Of the SEARCH of the patch that was applied last."""

    @classmethod
    def of(cls, text: str, times: list[int]) -> "DatedText":
        """The text whose :attr:`times` are known."""
        return cls(text, dict(zip(text.splitlines(), times, strict=True)))

    @property
    def times(self) -> list[int]:
        """Since when each line holds."""
        return [self.since[line] for line in self.text.splitlines()]

    def patched(self, patch: Patch, value_type: ValueType, work: Work) -> "DatedText":
        """The text with a patch applied that is not older than those before it.

        Args:
            patch: What to apply.
            value_type: Of the property.
            work: Pays for the search; the patch has its own allowance of it.

        Raises:
            RefusedChangeError: As :func:`operators.patch_edit.edit` raises it, or ``newer_fact`` if the patch would take away a line that
                holds since later than itself.
        """
        work.begin_patch()
        try:
            made = edit(self.text, patch, value_type, work)
        except RefusedChangeError as error:
            if error.reason != _NOT_FOUND:
                raise
            return self.overtaken(patch, value_type, work)
        return self._with(made, patch, overtakes=self.overtakes)

    def overtaken(self, patch: Patch, value_type: ValueType, work: Work) -> "DatedText":
        """The text once a patch, whose SEARCH is not in it, has edited a line that was replaced, in the place of what replaced it.

        Args:
            patch: What to apply.
            value_type: Of the property.
            work: Pays for the search.

        Raises:
            RefusedChangeError: As :meth:`patched`.
        """
        return self._with(self._with_former_line(patch, value_type, work), patch, overtakes=True)

    def _with(self, made: Edit, patch: Patch, *, overtakes: bool) -> "DatedText":
        text = made.text
        since = {line: self.since.get(line, patch.time) for line in text.splitlines()}
        removed = [line for line in self.since if line not in since]
        if patch.search is None:
            # What a person took away was wrong, and nothing edits it any more.
            return DatedText(text, since, {}, overtakes, made.nearness)
        if any(self.since[line] > patch.time for line in removed):
            raise RefusedChangeError("newer_fact")
        former = self.former
        if former or removed:
            added = next((line for line in since if line not in self.since), None)
            former = {line: successor for line, successor in former.items() if line not in since} | dict.fromkeys(removed, added)
        return DatedText(text, since, former, overtakes, made.nearness)

    def _with_former_line(self, patch: Patch, value_type: ValueType, work: Work) -> Edit:
        line = self._former_line(patch, value_type, work)
        new = edit(line, patch, value_type, work)
        if not new.text.strip():
            # What it takes away has gone.
            raise RefusedChangeError(_NOT_FOUND)
        lines = self.text.splitlines()
        present = set(lines)
        successor = self.former[line]
        while successor is not None and successor not in present:
            successor = self.former.get(successor)
        at = len(lines) if successor is None else lines.index(successor)
        lines[at : at + 1] = [each for each in new.text.splitlines() if each not in present or each == successor]
        # As if it were appended, so that it keeps to the bounds and the type.
        whole = edit("", Patch(patch.time, patch.id, None, "\n".join(lines)), value_type, work)
        return Edit(whole.text, new.nearness)

    def _former_line(self, patch: Patch, value_type: ValueType, work: Work) -> str:
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
