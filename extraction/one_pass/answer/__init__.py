"""The model's answer: its form, lenient parsing, strict validation."""
