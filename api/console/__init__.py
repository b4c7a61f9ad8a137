"""Varve's web console at ``/console``: its built files and its sign-in."""
