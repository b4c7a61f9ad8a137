"""The query service: the HTTP API.

Start at :mod:`api.app`, which joins the routes of ``api/routes/``, and :mod:`api.composition`, which opens what they use. What the
routes do is in ``api/reads/`` and ``api/writes/``, what they return in ``api/response_models/``.
"""
