"""Blocks that a model edits, as the stages publish them."""

from memory.records import Memory
from runtime.settings import LLMSettings, Settings
from tests.streams.agent_remarks import BLOCK
from tests.streams.linked_remarks import remarks
from tests.streams.stages.merging.linked_stages import LinkedStages

OSLO, CAT, BERGEN = remarks("ann", 0, "I live in Oslo."), remarks("ann", 1, "I have a cat."), remarks("ann", 2, "I live in Bergen.")


def asking(settings: Settings) -> Settings:
    """Settings with an endpoint, so that operators ask. The stages have the model itself."""
    return settings.model_copy(update={"llm": LLMSettings(base_url="http://127.0.0.1:9", model="scripted")})


def block_of(stages: LinkedStages, user: str = "ann") -> Memory:
    [found] = [each for each in stages.notes().values() if each.user == user]
    return found


def text_of(stages: LinkedStages, user: str = "ann") -> object:
    return block_of(stages, user).properties.get(BLOCK)


def rows(stages: LinkedStages) -> dict[bytes, bytes]:
    """The rows of entities, without the offset of the contribution that wrote them."""
    return {key: row[8:] for key, row in stages.entities.rows.rows.items()}
