"""Redis, and the state of a control log, for the tests of this folder."""

import pytest

from control import ControlState
from tests.control_log import add, apply_change
from tests.runtime.conftest import client

__all__ = ["client"]


@pytest.fixture
def state() -> ControlState:
    """One tenant, acme, with the companion schema."""
    state = ControlState()
    apply_change(state, add("acme", "companion"))
    return state
