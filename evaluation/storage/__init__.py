"""How much an extraction stores, against the raw turns."""
