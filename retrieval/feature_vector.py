"""What is computed of all candidates of a recall at once."""

import numpy as np
from numpy.typing import NDArray

FeatureVector = NDArray[np.float64]
"""A number for each candidate, in their order."""
