"""RealMem: users with dated sessions; queries are among the user's turns and need memories of earlier sessions."""

from pathlib import Path

from evaluation.compare.conversations import Asked, Dialogue, Step
from evaluation.realmem.dataset import read_user, user_files


def read(path: Path, *, limit: int | None) -> list[Dialogue]:
    """Reads the users of a folder, or of one file. Queries whose source messages cannot be found are left out.

    Args:
        path: The folder or file.
        limit: Most users. None: all.

    Raises:
        DataSetError: If there is no such file, or one has another form. The text names the field.
    """
    dialogues = []
    for file in user_files(path)[:limit]:
        user = read_user(file)
        steps = [
            Step(
                questions=tuple(
                    Asked(text=query.text, category=query.category, evidence=tuple(sorted(query.messages)), asked_at=query.asked_at)
                    for query in session.queries
                    if query.messages
                ),
                windows=session.windows,
            )
            for session in user.sessions
        ]
        dialogues.append(Dialogue(user.name, steps))
    return dialogues
