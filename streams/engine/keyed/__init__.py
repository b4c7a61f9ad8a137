"""Tasks that process the keys of one partition concurrently.

Start at :mod:`streams.engine.keyed.keyed_driver`; :mod:`streams.engine.keyed.scheduler` chooses the next record.
"""
