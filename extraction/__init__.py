"""Turns a window into segments, events and patches.

Start at :mod:`extraction.port`, the interface, and :mod:`extraction.build`, which chooses between ``one_pass/`` (an LLM) and ``offline/``
(rules).
"""
