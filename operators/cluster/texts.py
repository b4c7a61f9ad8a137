"""Texts that a model wrote about communities, and the open questions.

A text names the events that it is based on. It is valid until one of them is retracted, corrected or dropped: events that are added make
it stale, not wrong. An event that returns does not make it valid again, so validity depends on the log position only, live and in a
rebuild. A text is superseded by a newer one about some of the same events. So all texts together cover each event about once.
"""

import hashlib
from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass

from operators.applied_positions import reaches
from operators.llm.llm_operator import Moment
from operators.llm.summary_operator import Text, Texts


@dataclass(frozen=True, slots=True)
class CommunityTexts(Texts):
    """Texts and open questions by the keys of communities. A text has the ``marks`` of its events."""

    @staticmethod
    def subject_of(text: Text) -> str:
        """See :meth:`Texts.subject_of`: the events."""
        return question_id(text["marks"])

    def text_of(self, key: str, present: Set[str]) -> Text | None:
        """The valid text about a community; None if there is none.

        Args:
            key: The community.
            present: The marks of all events that are present.
        """
        text = self.written.get(key)
        return text if text is not None and set(text["marks"]) <= present else None

    def planned(
        self, communities: Mapping[str, Sequence[str]], present: Set[str], moment: Moment, *, most: int
    ) -> tuple["CommunityTexts", list[str], list[str]]:
        """Plans the questions after a batch of changes.

        Args:
            communities: The published communities by key, each with the marks of its events.
            present: The marks of all events that are present.
            moment: The time and log position of the batch.
            most: Most questions of the batch.

        Returns:
            The new texts; the keys of the communities to ask about; the keys of the texts that are no longer needed.
        """
        ahead = self._ahead_of(moment)
        kept = {key: text for key, text in self.written.items() if key in ahead or set(text["marks"]) <= present}
        written = {key: text for key, text in kept.items() if not _is_superseded(text, kept.values())}
        asked = {key: question for key, question in self.asked.items() if key in communities}
        after = CommunityTexts(written, asked)
        wanted = after._stale(communities, present)[:most] if after.may_ask(moment) else []
        asked |= {key: question_id(communities[key]) for key in wanted}
        return CommunityTexts(written, asked), wanted, sorted(self.written.keys() - written.keys())

    def valid(self, present: Set[str]) -> "CommunityTexts":
        """Keeps only valid texts."""
        return CommunityTexts({key: text for key, text in self.written.items() if set(text["marks"]) <= present}, self.asked)

    def _stale(self, communities: Mapping[str, Sequence[str]], present: Set[str]) -> list[str]:
        """The communities to ask about, those that have changed most first: without a text, or changed by half since."""
        found: list[tuple[float, str]] = []
        for key, marks in communities.items():
            text = self.text_of(key, present)
            covered = set() if text is None else set(text["marks"])
            changed = len(covered.symmetric_difference(marks))
            if key not in self.asked and (text is None or 2 * changed >= len(covered)):
                found.append((-changed / len(marks), key))
        return [key for _, key in sorted(found)]


def question_id(marks: Sequence[str]) -> str:
    """Names a question about events."""
    return hashlib.sha256(" ".join(marks).encode()).hexdigest()[:16]


def _is_superseded(text: Text, others: Collection[Text]) -> bool:
    """Whether a newer text is about some of the same events."""
    marks = set(text["marks"])
    known = text["known"]
    return any(other["known"] != known and reaches(other["known"], known) and not marks.isdisjoint(other["marks"]) for other in others)
