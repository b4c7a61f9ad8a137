"""Sources of a recall's results, one a module: memories, keywords, entities, the session's latest messages.

Start at :mod:`retrieval.retrievers.base`.
"""
