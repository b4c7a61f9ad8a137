"""The top floor: the command line, the supervisor, the embedded stack."""
