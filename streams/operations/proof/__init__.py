"""Proof: the memories that are served are those that the log gives.

Start at :mod:`streams.operations.proof.prove`.
"""
