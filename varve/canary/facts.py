"""What the canary says and asks: passwords of gates, one after the other, each gate's newest in force."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

USER: Final = "varve-canary"
"""Whose facts they are: nothing of anybody else is ever taken back, should the key be another tenant's."""

_ID_PREFIX: Final = "varve-canary-"
_GATES: Final = (
    *("north", "harbour", "garden", "market", "river", "castle", "bridge", "forest", "station", "mill"),
    *("chapel", "tower", "orchard", "quarry", "stable", "lighthouse", "vineyard", "brewery", "cemetery", "south"),
)
_SYLLABLES: Final = ("ba", "ke", "li", "mo", "nu", "ra", "se", "ti", "vo", "zu", "da", "fe", "gi", "ho", "ju", "pa")


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact."""

    number: int
    """Of the facts that were ever said, later ones have greater numbers."""
    gate: str

    @property
    def message_id(self) -> str:
        """The id of the message that says it, and so the evidence that it is remembered by."""
        return f"{_ID_PREFIX}{self.number}"

    @property
    def session(self) -> str:
        """Each has a session of its own, so that its window can be closed alone."""
        return self.message_id

    @property
    def text(self) -> str:
        """What is said."""
        return f"Please remember that the password of the {self.gate} gate is {self.password} from now on."

    @property
    def password(self) -> str:
        """What has to be remembered."""
        digest = hashlib.sha256(str(self.number).encode()).digest()
        return "".join(_SYLLABLES[byte % len(_SYLLABLES)] for byte in digest[:5])

    @property
    def question(self) -> str:
        """What is asked. It does not name the password."""
        return f"What is the password of the {self.gate} gate?"

    @property
    def message(self) -> dict[str, Any]:
        """The message that says it."""
        return {"id": self.message_id, "user": USER, "session": self.session, "text": self.text}

    def is_in(self, results: Iterable[Mapping[str, Any]]) -> bool:
        """Whether a recall found it: the event, or an entity that says it in its place."""
        return any(
            self.message_id in each["evidence"] and (each.get("kind") != "entity" or self.password in each["content"]) for each in results
        )


class Facts:
    """The facts that hold, of each gate the newest.

    Args:
        most: How many at a time; no more than there are gates.
        first: The number of the first one: greater than any that was said before.
    """

    def __init__(self, *, most: int, first: int) -> None:
        self._gates = _GATES[:most]
        self._next = first
        self._held: dict[str, Fact] = {}

    @property
    def held(self) -> list[Fact]:
        """Those that were found once and hold still, the oldest first."""
        return sorted(self._held.values(), key=lambda each: each.number)

    def next(self) -> Fact:
        """The next to be said. What its gate had before holds no longer."""
        fact = Fact(self._next, self._gates[self._next % len(self._gates)])
        self._next += 1
        self._held.pop(fact.gate, None)
        return fact

    def hold(self, fact: Fact) -> None:
        """It was found: from now on it has to be found again."""
        self._held[fact.gate] = fact

    def stale(self, results: Iterable[Mapping[str, Any]]) -> list[str]:
        """The ids of the events among results that rest on facts alone that hold no longer, of this process or one before."""
        held = {each.message_id for each in self._held.values()}
        return [
            str(each["id"])
            for each in results
            if each.get("kind") == "event"
            and each.get("user") == USER
            and each["evidence"]
            and all(name.startswith(_ID_PREFIX) and name not in held for name in each["evidence"])
        ]
