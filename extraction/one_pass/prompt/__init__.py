"""What a model is asked: a fixed prefix, then what changes, each part within its cap."""
