"""What a model answers: its form, read leniently, checked strictly."""
