"""Commands for the whole flow: rebuild, replay, erasure, accepted loss, snapshot."""
