"""Varve's web console at ``/console``: its built files and its sign-in.

Start at :mod:`api.console.http`. The source of the page is in ``console/``.
"""
