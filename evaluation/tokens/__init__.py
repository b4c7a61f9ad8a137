"""How many tokens one-pass extraction costs, against other ways to extract the same."""
