"""Delivers records to stages exactly once and in order. Knows no stage.

Start at :mod:`streams.engine.worker`, then :mod:`streams.engine.tasks.partition_task` for the life of a partition and
:mod:`streams.engine.tasks.checkpointer` for its commits.
"""
