"""The algebra that turns events into entities. Pure."""
