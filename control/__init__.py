"""The control log: the source of truth for tenants, keys, schemas and generations, in a compacted topic (docs/internals/adr/0024)."""

from control.draft import Change, DocumentChange, Draft
from control.follower import ControlFollower
from control.log import read_audit, read_control
from control.state import ControlState
from control.writer import ControlWriter

__all__ = [
    "Change",
    "ControlFollower",
    "ControlState",
    "ControlWriter",
    "DocumentChange",
    "Draft",
    "read_audit",
    "read_control",
]
