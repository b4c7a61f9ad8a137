"""Retention: removes what tenants keep no longer, through the log.

Start at :mod:`streams.operations.retention.run`.
"""
