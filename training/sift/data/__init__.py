"""Training and test sets: users with their sessions and queries, from data sets and from recalls with feedback."""
