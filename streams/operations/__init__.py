"""Commands on all stages: rebuild, replay, erasure, accepted loss, snapshot."""
