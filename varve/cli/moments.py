"""Moments on the command line."""

from datetime import UTC, datetime

import typer


def moment(text: str | datetime) -> datetime:
    """Reads ISO 8601; a moment without a zone is UTC.

    Raises:
        typer.BadParameter: If it is not that.
    """
    if isinstance(text, datetime):
        return text
    try:
        read = datetime.fromisoformat(text)
    except ValueError as error:
        raise typer.BadParameter(f"{text!r} is no ISO 8601 time, such as 2024-05-01T12:00:00Z") from error
    return read if read.tzinfo is not None else read.replace(tzinfo=UTC)
