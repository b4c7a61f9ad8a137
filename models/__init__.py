"""The models that Varve calls: ports, adapters, budgets, caches.

Start at :mod:`models.llm.port` and :mod:`models.embedding.port`.
"""
