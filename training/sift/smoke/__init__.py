"""An experiment on whether the training kit learns: a small model, trained from random weights on a generated task."""
