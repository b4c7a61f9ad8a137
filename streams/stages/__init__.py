"""The stages. Stages never import each other; what they share is in the modules of this package.

Each has its logic in ``handler.py``, without Faust, and its dependencies in ``build.py``. Start at :mod:`streams.stages.catalog`.
"""
