"""SPREAD keeps the laws of operators."""

from hypothesis import strategies as st
from spread import Spread

from operators.laws import check_laws


def test_spread_keeps_the_laws() -> None:
    """Checks all laws with random histories."""
    check_laws(Spread, st.integers(-50, 50) | st.floats(-50, 50))
