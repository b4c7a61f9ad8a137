"""The HTTP routes, one module per resource.

A route checks the request, calls a module of ``api``, and shapes the response; :mod:`api.app` lists all modules. Start at
:mod:`api.routes.recall`.
"""
