"""How Varve is deployed. What of it follows from the code is made by ``python -m deploy.generate``, and held equal to it by tests."""
