"""The entities stage: contributions in, entity state and memories out.

Start at :mod:`streams.stages.entities.handler`.
"""
