"""The texts of a chaos run: sentences with the facts that an extraction must find."""

import re
from dataclasses import dataclass
from random import Random

POINTS = ("fractions", "decimals", "angles", "primes")
EVENT_TYPES = ("exercise", "misconception", "breakthrough", "relation")
PEOPLE = ("ada", "ben", "cleo", "dan", "eve")
RELATIONS = ("teaches", "helps")

_FACT = re.compile(r"(\w+)=(\S+)")
EIGHTHS = 8


@dataclass(frozen=True, slots=True)
class Fact:
    """The event that an utterance states."""

    event_type: str
    properties: dict[str, str | float | int | bool]


def utterance(rng: Random, number: int, *, relations: int = 0) -> str:
    """A sentence, unlike every other by its number; scores and minutes are eighths, so that sums of them are exact in any order.

    Args:
        rng: Draws the sentence.
        number: The sentence's number.
        relations: Weight of sentences that state a relation. All others have a weight of 20.
    """
    match rng.choices(("exercise", "misconception", "breakthrough", "goal", "chatter", "relation"), (12, 2, 2, 1, 3, relations))[0]:
        case "exercise":
            return (
                f"exercise n={number} point={rng.choice(POINTS)} score={rng.randint(0, EIGHTHS) / EIGHTHS} "
                f"minutes={rng.randint(1, 200) / EIGHTHS} correct={rng.choice(('yes', 'no'))} difficulty={rng.randint(1, 5)}"
            )
        case "goal":
            return f"goal n={number} by the end of term"
        case "chatter":
            return f"chatter n={number} about the weather"
        case "relation":
            subject, other = rng.sample(PEOPLE, 2)
            return f"relation n={number} subject={subject} relation={rng.choice(RELATIONS)} object={other}"
        case kind:
            return f"{kind} n={number} point={rng.choice(POINTS)}"


def fact_in(text: str) -> Fact | None:
    """The event that an utterance states; None where it states none."""
    kind = text.partition(" ")[0]
    if kind not in EVENT_TYPES:
        return None
    fields = dict(_FACT.findall(text))
    if kind == "relation":
        return Fact(kind, {name: fields[name] for name in ("subject", "relation", "object")})
    properties: dict[str, str | float | int | bool] = {"knowledge_point": fields["point"]}
    if kind == "exercise":
        properties |= {
            "correct": fields["correct"] == "yes",
            "score": float(fields["score"]),
            "minutes": float(fields["minutes"]),
            "difficulty": int(fields["difficulty"]),
        }
    return Fact(kind, properties)


def goal_in(text: str) -> str | None:
    """The line that an utterance adds to its user's goals; None where it adds none."""
    return text if text.startswith("goal ") else None
