"""Query expansion: a model says in which words a query may be answered, and these are searched beside it."""
