"""Partition tasks: what processes and commits the records of one partition.

Start at :mod:`streams.engine.tasks.partition_task`; :mod:`streams.engine.tasks.batch` is what a handler sees.
"""
