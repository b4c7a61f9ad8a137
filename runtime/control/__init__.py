"""The control log: the one truth about tenants, keys, schemas and generations, in a compacted topic (docs/adr/0019)."""

from runtime.control.draft import Change, DocumentChange, Draft
from runtime.control.follower import ControlFollower
from runtime.control.log import read_audit, read_control
from runtime.control.state import ControlState
from runtime.control.writer import ControlWriter

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
