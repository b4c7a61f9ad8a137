"""Contents, costs and retrieval quality of a model's extraction of LoCoMo."""
