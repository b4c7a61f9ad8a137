"""The canary's facts: a password for each gate; a newer password replaces the gate's older one."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

USER: Final = "varve-canary"
"""The user of all facts. The canary invalidates only this user's memories, even if its key belongs to another tenant."""

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
    """Sequence number; later facts have greater numbers, also across restarts."""
    gate: str

    @property
    def message_id(self) -> str:
        """The id of the message that states the fact; a recall must name it as evidence."""
        return f"{_ID_PREFIX}{self.number}"

    @property
    def session(self) -> str:
        """The fact's session. Each fact has one, so that its window can be closed separately."""
        return self.message_id

    @property
    def text(self) -> str:
        """The message's text."""
        return f"Please remember that the password of the {self.gate} gate is {self.password} from now on."

    @property
    def password(self) -> str:
        """The password that a recall must return."""
        digest = hashlib.sha256(str(self.number).encode()).digest()
        return "".join(_SYLLABLES[byte % len(_SYLLABLES)] for byte in digest[:5])

    @property
    def question(self) -> str:
        """The question for the password."""
        return f"What is the password of the {self.gate} gate?"

    @property
    def message(self) -> dict[str, Any]:
        """The message that states the fact."""
        return {"id": self.message_id, "user": USER, "session": self.session, "text": self.text}

    def is_in(self, results: Iterable[Mapping[str, Any]]) -> bool:
        """Whether a recall's results contain the fact, as an event or in an entity."""
        return any(
            self.message_id in result["evidence"] and (result.get("kind") != "entity" or self.password in result["content"])
            for result in results
        )


class Facts:
    """The current facts, one for each gate.

    Args:
        most: Maximum number of current facts; at most the number of gates.
        first: Number of the first fact; greater than all earlier numbers.
    """

    def __init__(self, *, most: int, first: int) -> None:
        self._gates = _GATES[:most]
        self._next = first
        self._held: dict[str, Fact] = {}

    @property
    def held(self) -> list[Fact]:
        """The current facts that a recall has found before, oldest first."""
        return sorted(self._held.values(), key=lambda each: each.number)

    def next(self) -> Fact:
        """The next fact. It replaces its gate's earlier fact."""
        fact = Fact(self._next, self._gates[self._next % len(self._gates)])
        self._next += 1
        self._held.pop(fact.gate, None)
        return fact

    def hold(self, fact: Fact) -> None:
        """Records that a recall found a fact, so that later recalls must find it, too."""
        self._held[fact.gate] = fact

    def stale(self, results: Iterable[Mapping[str, Any]]) -> list[str]:
        """The ids of events whose evidence consists only of replaced facts, from this process or an earlier one."""
        held = {each.message_id for each in self._held.values()}
        return [
            str(result["id"])
            for result in results
            if result.get("kind") == "event"
            and result.get("user") == USER
            and result["evidence"]
            and all(name.startswith(_ID_PREFIX) and name not in held for name in result["evidence"])
        ]
