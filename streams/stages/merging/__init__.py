"""The merging stage: questions of the entities' operators in, outcomes out.

Start at :mod:`streams.stages.merging.handler`.
"""
