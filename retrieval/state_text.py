"""The text of an entity as contexts and the command line show it. Clients load it: it imports no other part of the service."""

import re
from collections.abc import Mapping
from typing import Any, Final

_COUNT: Final = re.compile(r"(?P<count>\d+ events? in full)(?:\n|$)")
"""The first line of a timeline: how many events are not summarized (:mod:`operators.timeline.compress`). They are memories themselves."""


def state_text(whole: str, properties: Mapping[str, Any]) -> str | None:
    """An entity's text without the sizes of its timelines; None if it has nothing else.

    Args:
        whole: The entity's content.
        properties: The entity's properties.
    """
    content = whole
    for name, value in properties.items():
        if isinstance(value, str) and (counted := _COUNT.match(value)) is not None:
            label = name.replace("_", " ")
            clause = f"{label}: {counted['count']}"
            for separator in (" / ", ", "):
                content = content.replace(f"{clause}{separator}", f"{label}: ", 1)
            for lone in (f"; {clause}", f"{clause}; ", f": {clause}"):
                content = content.replace(lone, "", 1)
    return content if content == whole or ": " in content else None
