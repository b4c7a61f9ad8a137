"""The recall pipeline: query rewriting, retrieval, ranking, deduplication, context.

Start at :mod:`retrieval.pipeline`, whose steps are modules of the same names; :mod:`retrieval.request` has what goes in and comes out.
"""
