"""The sessions stage: messages in, closed windows out."""
