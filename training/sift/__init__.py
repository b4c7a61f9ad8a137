"""Training and evaluation of the proxy model of ``mode=sift`` (MemSifter 3.3, 3.4 and 4).

Each step is a module that ``python -m training sift STEP`` runs. Start at :mod:`training.sift.data`, then :mod:`training.sift.optimise`.
"""
