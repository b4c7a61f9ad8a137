"""The words and the search text of each message of a window, for the events that a model worded."""

from collections.abc import Mapping

from extraction.bounds import LONGEST_SAID
from extraction.drafts import DropCounter
from extraction.offline.events.wording import event_content, search_text
from extraction.offline.turns import name_of, passages_of, turns_of
from extraction.port import Quotation
from memory.records import Window
from memory.texts.text import shortened


def quotations(window: Window, recalled: frozenset[str]) -> Mapping[int, Quotation]:
    """The words and the search texts of messages, by their indices; without fillers, echoes of recalls and tool calls without a text.

    Args:
        window: The window.
        recalled: Content hashes of what recalls returned lately.
    """
    turns = turns_of(window.messages, recalled=recalled, tally=DropCounter())
    found: dict[int, Quotation] = {}
    for index, turn in enumerate(turns):
        passages = passages_of(turns, index)
        if not passages:
            continue
        contents = [event_content(turn, each, event_type="") for each in passages]
        searched = [search_text(turn, each) or content for each, content in zip(passages, contents, strict=True)]
        said = " ".join(contents) if turn.message.tool_call is not None else f"{name_of(turn)}: {' '.join(contents)}"
        found[turn.message_index] = Quotation(shortened(said, LONGEST_SAID), shortened(" ".join(searched), LONGEST_SAID))
    return found
