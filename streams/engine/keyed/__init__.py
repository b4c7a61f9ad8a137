"""Tasks that process the keys of one partition concurrently."""
