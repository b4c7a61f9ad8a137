"""LLM endpoints: the port, its implementations, and their limits, budgets and breakers.

Start at :mod:`models.llm.port`, then :mod:`models.llm.gateway`: a call passes the cache, the budget, :mod:`~models.llm.hedging`,
:mod:`~models.llm.guarded_endpoint` and :mod:`~models.llm.endpoint`.
"""
