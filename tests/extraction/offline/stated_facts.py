"""The facts that the offline extractor reads in messages."""

from datetime import UTC, datetime

from extraction.drafts import DropCounter
from extraction.offline.facts.profile_facts import user_statements
from extraction.offline.turns import turns_of
from memory.records import Message


def stated(*messages: str) -> list[str]:
    """The facts that Mara states; "A: " begins a message of the assistant, "B: " one of another person."""
    senders = {"A: ": ("assistant", "bot"), "B: ": ("user", "Bob")}
    window = []
    for number, text in enumerate(messages):
        role, speaker = senders.get(text[:3], ("user", "mara"))
        window.append(
            Message(
                tenant="t",
                user="mara",
                session="s",
                id=str(number),
                role=role,
                speaker=speaker,
                text=text[3:] if text[:3] in senders else text,
                event_time=datetime(2024, 5, 1, tzinfo=UTC),
            )
        )
    facts, _ = user_statements(turns_of(window, recalled=frozenset(), tally=DropCounter()), "mara")
    return [f"{each.relation or each.field.name.lower()} {each.value}" for each in facts]
