"""An experiment that shows that the training kit learns: a small model, trained from random weights on a generated task."""
