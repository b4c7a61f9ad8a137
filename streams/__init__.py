"""The pipeline: the delivery layer and the stages on it.

Start at :mod:`streams.run`, which runs one stage, and at the ``handler.py`` of a stage in ``streams/stages/``; ``engine/`` delivers the
records, and ``operations/`` has the commands on all stages.
"""
