"""Facts in other words than the grammar's: implied, mentioned as known, reactions, and standing orders."""
