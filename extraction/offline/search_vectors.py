"""The vectors of turns and passages, computed from the texts that the index embeds as well, so that no text is embedded twice. Pure.

A search text begins with its speaker and day, which makes all texts of a speaker similar. :func:`without_opening` removes most of that: on
TIAGE (Xie et al. 2021) with search texts in place of utterances, the segmenter's mean Pk over the splits is 0.360 with the openings, 0.316
without them, and 0.311 with the plain utterances.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from extraction.offline.events.wording import opening_of, search_text
from extraction.offline.turns import Passage, Turn
from memory.vectors import unit_rows
from models.embedding.port import Embedding, Vector

_OPENING_SHARE: Final = 0.5
"""Share of the opening's vector that is subtracted. Of 0, 0.3, 0.5 and 0.7, the segmenter's shipped weights do best with this one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchTexts:
    """The texts of a window to embed."""

    openings: list[str]
    """The opening of each turn's search texts."""
    of_passages: list[str | None]
    """The search text of each passage; None for a tool call."""
    plain: list[str]
    """The passage's own text where it has no search text, and the text of each turn without passages."""

    def distinct(self) -> list[str]:
        """All of them, each once."""
        texts = [*(text for text in self.of_passages if text is not None), *self.plain]
        return list(dict.fromkeys([*texts, *(self.openings if any(self.of_passages) else ())]))


@dataclass(frozen=True, slots=True)
class WindowVectors:
    """The vectors of a window's turns and passages, in their order."""

    turns: list[Embedding]
    passages: list[Embedding]


def texts_of(turns: Sequence[Turn], passages: Sequence[Passage]) -> SearchTexts:
    """The texts to embed for a window."""
    searched = [search_text(turns[passage.turn_index], passage) for passage in passages]
    said = {passage.turn_index for passage in passages}
    return SearchTexts(
        openings=[opening_of(turn) for turn in turns],
        of_passages=searched,
        plain=[
            *(passage.text for passage, text in zip(passages, searched, strict=True) if text is None),
            *(plain_text(turn) for index, turn in enumerate(turns) if index not in said),
        ],
    )


def vectors_of(
    turns: Sequence[Turn], passages: Sequence[Passage], texts: SearchTexts, embeddings: Mapping[str, Embedding]
) -> WindowVectors:
    """The vectors of turns and passages. A turn with several passages has their mean.

    Args:
        turns: The window's turns.
        passages: The passages.
        texts: Of :func:`texts_of`.
        embeddings: Of each of ``texts.distinct()``.
    """
    of_passages: list[Embedding] = []
    of_turns: dict[int, list[Embedding]] = {}
    for passage, text in zip(passages, texts.of_passages, strict=True):
        if text is None:
            embedding = embeddings[passage.text]
        else:
            embedding = without_opening(embeddings[text], embeddings[texts.openings[passage.turn_index]])
        of_passages.append(embedding)
        of_turns.setdefault(passage.turn_index, []).append(embedding)
    return WindowVectors(
        [_mean(of_turns[index]) if index in of_turns else embeddings[plain_text(turn)] for index, turn in enumerate(turns)], of_passages
    )


def plain_text(turn: Turn) -> str:
    """The text of a turn; of a tool call without a text its speaker."""
    return turn.text or turn.speaker


def without_opening(embedding: Embedding, opening: Embedding) -> Embedding:
    """The vectors of a text, less those of the words that it begins with.

    Args:
        embedding: Of the whole text.
        opening: Of the words at its beginning alone.
    """
    dense = embedding.dense - _OPENING_SHARE * opening.dense
    return Embedding(unit_rows(dense[None])[0], _rows_after(embedding, opening))


def _rows_after(embedding: Embedding, opening: Embedding) -> Vector | None:
    if embedding.late is None or opening.late is None or len(embedding.late) <= len(opening.late):
        return embedding.late
    return embedding.late[len(opening.late) :]


def _mean(embeddings: Sequence[Embedding]) -> Embedding:
    if len(embeddings) == 1:
        return embeddings[0]
    late = [each.late for each in embeddings if each.late is not None]
    dense = np.mean([each.dense for each in embeddings], axis=0, keepdims=True)
    return Embedding(unit_rows(dense)[0], np.concatenate(late) if len(late) == len(embeddings) else None)
