"""What a model's extraction of LoCoMo holds, costs and finds."""
