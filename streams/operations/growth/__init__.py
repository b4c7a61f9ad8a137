"""Growth of the number of partitions: a new set of topics, filled from the present one.

Start at :mod:`streams.operations.growth.run`.
"""
