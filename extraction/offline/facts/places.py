"""Whether a word names a place where one can live, by the embedding model.

"I moved to Bergen" and "I moved to Notion" have the same words around the name. A gazetteer of all towns is larger than Varve, and the
embedding model has read their names. A name counts by its mean cosine to the nearest places minus that to the nearest names of other kinds.
"""

import asyncio
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from models.embedding.port import Embedder

_PLACES_NAMES: Final = (
    "Rotterdam|Vancouver|Sheffield|Kampala|Santiago|Kathmandu|Valencia|Brisbane|Uppsala|Tampere|Zagreb|Ljubljana|Poznań|"
    "Marseille|Palermo|Tübingen|Antwerp|Aberdeen|Limerick|Nagoya|Jakarta|Casablanca|Guadalajara|Medellín|Minneapolis|Oregon|"
    "Norway|Portugal|Vietnam|Manhattan|a village|a small town|a city|a suburb|Vilnius|Kaunas|Bratislava|Recife|Concepción|"
    "Hastings|Odense|Riga|a country"
)
_PLACES: Final = tuple(_PLACES_NAMES.split("|"))
_OTHERS_NAMES: Final = (
    "Photoshop|WordPress|Dropbox|Todo list|Word|PowerPoint|JavaScript|Ruby|C++|MySQL|Debian|macOS|iOS|Discord|YouTube|"
    "Instagram|Salesforce|HubSpot|Bitbucket|Visual Studio Code|Google Docs|Kotlin|React|AWS|an app|software|Human Resources|"
    "Accounting|the night shift|a new job|version 2|Plan A|Room 12|a chair|pajamas|happiness|the past|the office|trousers|"
    "Wednesday|Operations|a browser|the cloud|a spreadsheet|Fortnite|Design|Product"
)
_OTHERS: Final = tuple(_OTHERS_NAMES.split("|"))
_NEAREST: Final = 3


class PlaceScores:
    """Scores names by their nearness to places. The examples are embedded once.

    Args:
        embedder: The model; stays open.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._examples: tuple[NDArray[np.floating[Any]], NDArray[np.floating[Any]]] | None = None
        self._lock = asyncio.Lock()

    async def of(self, names: Sequence[str]) -> dict[str, float]:
        """The scores of names: above 0 for most places, below for most other things.

        Raises:
            models.errors.ModelError: If the embedder cannot embed now.
        """
        if not names:
            return {}
        async with self._lock:
            if self._examples is None:
                self._examples = await self._dense(_PLACES), await self._dense(_OTHERS)
        places, others = self._examples
        vectors = await self._dense(names)
        scores = _nearness(vectors, places) - _nearness(vectors, others)
        return dict(zip(names, scores.tolist(), strict=True))

    async def _dense(self, texts: Sequence[str]) -> NDArray[np.floating[Any]]:
        return np.array([each.dense for each in await self._embedder.embed_documents(list(texts))])


def _nearness(vectors: NDArray[np.floating[Any]], examples: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
    return np.asarray(np.sort(vectors @ examples.T, axis=1)[:, -_NEAREST:].mean(axis=1))
