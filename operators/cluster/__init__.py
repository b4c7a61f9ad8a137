"""CLUSTER: communities of a user's relation graph, with a summary for each (Zep).

Start at :mod:`operators.cluster.cluster`.
"""
