"""Texts that models wrote about a timeline's summarised periods, and the open questions.

An outcome has a digest of its events, and the log position at which it was asked. It is valid while its period has exactly these events,
in whichever order records arrive: live, in a replay, and in a rebuild, which reads the outcomes before any event.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

import orjson

from operators.applied_positions import last_positions, reaches
from operators.llm.llm_operator import Moment
from operators.llm.summary_operator import Text, Texts
from operators.timeline.digest import Digest, present
from operators.timeline.periods import Period

MIN_EVENTS: Final = 2
"""A period with a single event needs no summary."""


@dataclass(frozen=True, slots=True)
class PeriodTexts(Texts):
    """Texts and open questions by period name.

    A text has ``of``: the digest of its events; and ``clock``: the timeline's event time at the question.
    """

    @staticmethod
    def subject_of(text: Text) -> str:
        """See :meth:`Texts.subject_of`: the digest of the events."""
        return str(text["of"])

    def text_of(self, period: Period, digest: Digest) -> Text | None:
        """The text that was written from exactly these events; None if there is none."""
        text = self.written.get(period.name)
        return text if text is not None and text["of"] == digest_of(period, digest) else None

    def is_written(self, period: Period, digest: Digest) -> bool:
        """Whether a model wrote a text from exactly these events."""
        text = self.text_of(period, digest)
        return text is not None and bool(text["text"])

    def planned(
        self, periods: Sequence[tuple[Period, Digest]], moment: Moment, *, clock: int
    ) -> tuple[Self, list[tuple[Period, Digest]], list[str], list[str]]:
        """Plans the texts and questions after a batch of changes.

        A month with the events of one week, or a year with those of one month, takes over the text that was written from them.

        If a text covers more of the log than the entity has read, a rebuild is running, and it asks nothing: the events of that text, or
        the tick that summarised them, are still to arrive.

        Args:
            periods: The summarised periods.
            moment: The time and log position of the batch.
            clock: The timeline's newest event time.

        Returns:
            The new texts; the periods to ask about; the names of those that took over a text; the names of those whose texts are no
            longer needed.
        """
        names, at = {period.name for period, _ in periods}, {"known": last_positions(moment.sources), "clock": clock}
        ahead = {name for name, text in self.written.items() if not self._covers(at, text)}
        written = {name: text for name, text in self.written.items() if name in names or name in ahead}
        asked = {name: of for name, of in self.asked.items() if name in names}
        without_text = [
            (period, digest)
            for period, digest in (() if ahead else periods)
            if period.name not in asked and len(present(digest)) >= MIN_EVENTS and self.text_of(period, digest) is None
        ]
        taken_over = {
            period.name: {**text, **at, "of": digest_of(period, digest)}
            for period, digest in without_text
            if (text := self._text_from(digest)) is not None
        }
        open_periods = [each for each in without_text if moment.has_llm and each[0].name not in taken_over]
        asked |= {period.name: digest_of(period, digest) for period, digest in open_periods}
        return type(self)(written | taken_over, asked), open_periods, sorted(taken_over), sorted(self.written.keys() - written.keys())

    def valid(self, periods: Sequence[tuple[Period, Digest]]) -> Self:
        """Keeps only texts that were written from exactly the periods' events."""
        named = {period.name: text for period, digest in periods if (text := self.text_of(period, digest)) is not None}
        return type(self)(named, self.asked)

    def _text_from(self, digest: Digest) -> Text | None:
        """A text of another period that a model wrote from exactly these events."""
        return next((text for name, text in self.written.items() if text["text"] and text["of"] == _digest_of(name, digest)), None)

    @staticmethod
    def _covers(before: Text, text: Text) -> bool:
        """Whether a text, or the entity, has read at least as much of the log as a text is based on."""
        return bool(before["clock"] >= text["clock"]) and reaches(before["known"], text["known"])


def digest_of(period: Period, digest: Digest) -> str:
    """Hash of a period's name and events."""
    return _digest_of(period.name, digest)


def _digest_of(name: str, digest: Digest) -> str:
    content = [name, [[key, text] for key, text, _, _ in present(digest)]]
    return hashlib.sha256(orjson.dumps(content)).hexdigest()[:32]
