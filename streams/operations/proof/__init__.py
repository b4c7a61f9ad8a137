"""Proof: the memories that are served are those that the log gives."""
