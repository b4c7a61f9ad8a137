"""The stages. Stages never import each other.

Each has its logic in ``handler.py``, without Faust, and its dependencies in ``build.py``. Start at :mod:`streams.stages.catalog`.
"""
