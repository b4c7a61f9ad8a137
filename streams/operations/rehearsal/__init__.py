"""Rehearsal of a switch: replays recalls against the live and another generation, and compares what they return.

It only reads. Nothing is recorded as a use of memories: no record in ``recalls``, no counts of returned memories, no echo hashes.
"""
