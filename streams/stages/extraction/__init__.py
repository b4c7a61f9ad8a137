"""The extraction stage: windows in, extractions out.

Start at :mod:`streams.stages.extraction.handler`.
"""
