"""The recipes of `docs/operate/security.md`, so that tests run what the page says."""

import re
from pathlib import Path

_PAGE = Path(__file__).parents[1] / "docs" / "operate" / "security.md"


def recipe(language: str) -> list[str]:
    """The lines of the page's first block of that language.

    Args:
        language: The language after the opening marks of the block.
    """
    found = re.search(rf"^```{language}\n(.*?)^```", _PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert found is not None, language
    return found[1].splitlines()
