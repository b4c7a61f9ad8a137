"""TREE: a tree of an entity's events by similarity, with a summary for each inner node (MemTree).

Start at :mod:`operators.tree.tree`.
"""
