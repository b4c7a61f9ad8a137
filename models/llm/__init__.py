"""LLM endpoints: the port, the endpoints behind it, and what guards them."""
