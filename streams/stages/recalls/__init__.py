"""The recalls stage: recalls in, touches of events out.

Start at :mod:`streams.stages.recalls.handler`.
"""
