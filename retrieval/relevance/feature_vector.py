"""The type of a feature. It has its own module because rankers, features and the time prior import it, and each other."""

import numpy as np
from numpy.typing import NDArray

FeatureVector = NDArray[np.float64]
"""A number for each candidate, in their order."""
