"""The embedded stack: Kafka, Redis and the Qdrant engine from Python packages.

Start at :mod:`varve.embedded.stack`.
"""
