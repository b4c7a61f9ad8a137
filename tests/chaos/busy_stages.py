"""The stages that the load of these tests keeps busy."""

from collections.abc import Mapping
from typing import Final

from streams.stages import STAGES, StageSpec

BUSY_STAGES: Final[Mapping[str, StageSpec]] = {name: spec for name, spec in STAGES.items() if name != "recalls"}
"""The others run, too, and have nothing to do: what recalls touch, and what ages, takes days."""
