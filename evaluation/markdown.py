"""Tables in Markdown."""

from collections.abc import Iterable, Sequence


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table.

    Args:
        header: The titles of the columns.
        rows: The cells of each row.
    """
    return [f"| {' | '.join(cells)} |" for cells in (header, ["---"] * len(header), *rows)]
