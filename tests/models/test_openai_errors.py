"""Messages in the errors of endpoints, in whatever form an endpoint gives them."""

from typing import Any

import orjson
import pytest

from models.openai_errors import message_in_body


def nested(depth: int) -> Any:
    return {"a": nested(depth - 1)} if depth else 1


@pytest.mark.parametrize("body", [{"\ud83d": 1}, {"detail": ["\ud83d"]}, nested(300), nested(900)], ids=["key", "value", "300", "900"])
def test_a_message_is_found_in_any_body(body: Any) -> None:
    assert "cannot be shown" in message_in_body(body)


def test_half_of_a_character_is_replaced() -> None:
    message = message_in_body({"message": "no \ud83d such model"})
    assert orjson.loads(orjson.dumps(message)) == "no \ufffd such model"
