"""Personal data in texts for hosted models: found, replaced by placeholders, and put back into answers."""
