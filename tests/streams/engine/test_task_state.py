"""A partition task changes its state only along the allowed transitions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.engine.tasks.task_state import TaskState
from streams.errors import StreamError

FINAL = {TaskState.CLOSED, TaskState.FENCED}


@given(requests=st.lists(st.sampled_from(TaskState), max_size=30))
def test_a_task_that_ends_never_handles_records_again(requests: list[TaskState]) -> None:
    state, has_ended = TaskState.CREATED, False
    for new in requests:
        try:
            changed = state.change_to(new)
        except StreamError:
            continue
        assert changed is new
        assert new is not TaskState.CREATED
        assert new is not TaskState.RUNNING or state is TaskState.RESTORING, "only a restored partition runs"
        assert new not in (TaskState.RESTORING, TaskState.RUNNING) or not has_ended
        assert state is not TaskState.CLOSED or new is TaskState.CLOSED
        state, has_ended = new, has_ended or new.is_ending


@pytest.mark.parametrize("state", TaskState)
def test_every_state_can_be_closed(state: TaskState) -> None:
    assert state.change_to(TaskState.CLOSED) is TaskState.CLOSED


@pytest.mark.parametrize("state", [TaskState.RESTORING, TaskState.RUNNING, TaskState.DRAINING])
def test_a_task_that_writes_can_be_fenced(state: TaskState) -> None:
    assert state.change_to(TaskState.FENCED) in FINAL
