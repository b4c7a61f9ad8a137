"""The index stage: the change feed in, points in the vector store out.

Start at :mod:`streams.stages.index.handler`; :mod:`stores.index_writer` writes the points.
"""
