"""What each message of a window says, in the words of the offline extractor: names for "I", and the day behind "yesterday"."""

from collections.abc import Mapping

from extraction.bounds import LONGEST_SAID
from extraction.drafts import DropCounter
from extraction.offline.turns import passages_of, turns_of
from extraction.offline.wording import event_content
from memory.records import Window
from memory.text import shortened


def retold(window: Window, recalled: frozenset[str]) -> Mapping[int, str]:
    """What the messages say, by their indices. Those that say nothing by themselves are left out, and so is what a recall brought up.

    Args:
        window: The window.
        recalled: Content hashes of what recalls returned lately.
    """
    turns = turns_of(window.messages, recalled=recalled, tally=DropCounter())
    texts: dict[int, list[str]] = {}
    for index, turn in enumerate(turns):
        passages = passages_of(turns, index)
        if passages:
            texts[turn.message_index] = [event_content(turn, each, event_type="") for each in passages]
    return {index: shortened(" ".join(parts), LONGEST_SAID) for index, parts in texts.items()}
