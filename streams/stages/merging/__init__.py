"""The merging stage: questions of entities' operators in, what they come to out."""
