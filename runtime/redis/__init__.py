"""Redis: its client and keys, and what the processes keep there.

Start at :mod:`runtime.redis.client`. A module that keeps one thing has that thing's name, and its keys are in
:mod:`runtime.redis.keys`.
"""
