"""The dead letters as operators handle them: what they tell, which are meant, and how they are driven again or put away."""

from runtime.dead_letters.box import DeadLetterBox, Driven
from runtime.dead_letters.letters import Letter, Opened, Place, Selection, State
from runtime.dead_letters.metadata import PREFIX, read_metadata, without_metadata

__all__ = ["PREFIX", "DeadLetterBox", "Driven", "Letter", "Opened", "Place", "Selection", "State", "read_metadata", "without_metadata"]
