"""Whether a message states facts: moods of sentences, the speaker's own voice, jokes, and what is taken back."""
