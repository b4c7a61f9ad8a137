"""Names in paths. A session's name or an entity's key may hold any character, and a route takes it with its slashes and line breaks."""

from typing import Final

from starlette.convertors import Convertor, register_url_convertor

REST: Final = "rest"
"""The converter that takes all that is left of a path. Starlette's own, ``path``, ends at a line break."""


class _Rest(Convertor[str]):
    regex = r"[\s\S]*"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor(REST, _Rest())
