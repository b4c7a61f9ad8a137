"""The query service: HTTP in front of recall and intake."""
