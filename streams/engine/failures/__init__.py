"""Retries, suspects, deferred records, dead letters and lost data.

Start at :mod:`streams.engine.failures.dependency_health` for retries, :mod:`~streams.engine.failures.crash_journal` for suspects, and
:mod:`~streams.engine.failures.deferral` for records that wait.
"""
