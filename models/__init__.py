"""The models that Varve calls: ports, adapters, budgets, caches."""
