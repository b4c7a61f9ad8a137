"""The grammar of plain statements: sentences, clauses, patterns of values, and the forms of statements."""
