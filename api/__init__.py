"""The query service: the HTTP API.

Start at :mod:`api.app`, which joins the routes of ``api/routes/``, and :mod:`api.composition`, which opens what they use. Each group of
routes has its response models in a module ``*_responses``.
"""
