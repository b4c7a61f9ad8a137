"""Bounds what a record may cost by counted work, so that the bound is the same in live processing, replay and rebuild.

One unit is about 10 ns of CPU on a common machine. The cost of each piece of work is paid before the work is done. No clock is read: a slow
machine drops nothing that a fast one keeps.
"""

from typing import Final

from operators.errors import RefusedChangeError

MAX_PATCH_WORK: Final = 4_000_000
"""One patch, applied to one text: a search through the longest text for the longest SEARCH takes a third of it."""
MAX_CONTRIBUTION_WORK: Final = 8_000_000
"""All patches that one contribution applies, or that one extraction shows to the windows after it."""
MAX_RETRACTION_WORK: Final = 40_000_000
"""Work for all patches that one contribution retracts. Each retraction applies up to 15 others again, none of which is refused."""


class WorkExceededError(RefusedChangeError):
    """A change needs more work than is left. ``is_patch``: the patch alone needs too much."""

    def __init__(self, *, is_patch: bool) -> None:
        super().__init__("patch_too_costly" if is_patch else "contribution_too_costly")
        self.is_patch = is_patch


class WorkBudget:
    """The work that is left.

    Args:
        limit: In units.
    """

    __slots__ = ("_in_patch", "_left")

    def __init__(self, limit: int = MAX_CONTRIBUTION_WORK) -> None:
        self._left = limit
        self._in_patch = MAX_PATCH_WORK

    @property
    def left(self) -> int:
        """Units that may still be spent, by all patches together."""
        return self._left

    def begin_patch(self) -> None:
        """The next patch begins, with its own allowance."""
        self._in_patch = MAX_PATCH_WORK

    def spend(self, units: int) -> None:
        """Pays for a piece of work before it is done.

        Args:
            units: How much it costs.

        Raises:
            WorkExceededError: More than the patch or all patches together have left. Nothing is paid then.
        """
        if units > self._left:
            raise WorkExceededError(is_patch=False)
        if units > self._in_patch:
            raise WorkExceededError(is_patch=True)
        self._left -= units
        self._in_patch -= units
