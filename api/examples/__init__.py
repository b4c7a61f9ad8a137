"""An example of the request body and of the response of each operation, by operation id, for the OpenAPI document.

A test compares them with the models, and checks that every operation has one.
"""

from typing import Final

from api.examples.administration import ADMINISTRATION
from api.examples.conversations import CONVERSATIONS
from api.examples.memories import MEMORIES
from api.examples.operation import OPERATION
from api.examples.recalls import RECALLS
from api.examples.values import Example

__all__ = ["EXAMPLES", "Example"]

EXAMPLES: Final[dict[str, Example]] = {**CONVERSATIONS, **RECALLS, **MEMORIES, **OPERATION, **ADMINISTRATION}
