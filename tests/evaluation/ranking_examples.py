"""Made-up questions with candidates, of which only one feature identifies the evidence."""

import numpy as np

from evaluation.recall.fit_examples import Example
from retrieval.relevance.features import FEATURES

_CANDIDATES = 20


def example(random: np.random.Generator, *, telling: str) -> Example:
    """An example in which the candidates with the highest of one feature are most often the evidence.

    Args:
        random: Draws the features.
        telling: The feature.
    """
    features = {name: random.standard_normal(_CANDIDATES) for name in FEATURES}
    right = np.zeros(_CANDIDATES)
    right[np.argmax(features[telling] + random.standard_normal(_CANDIDATES) / 4)] = 1.0
    return Example(0, 4, (), features, right, ("m",))
