"""The merging stage: questions of the entities' operators in, outcomes out."""
