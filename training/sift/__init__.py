"""Training and evaluation of the proxy model of ``mode=sift`` (MemSifter 3.3, 3.4 and 4).

Each step that ``python -m training sift STEP`` runs is a module with ``SUMMARY``, ``add_arguments`` and ``run``; ``training/__main__.py``
lists them. Start at :mod:`training.sift.data.command`, then :mod:`training.sift.learning.optimise`.
"""
