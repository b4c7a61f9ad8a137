"""A canary tenant: it continuously uses Varve as an application does, and reports whether Varve remembers.

Start at :mod:`varve.canary.run`.
"""
