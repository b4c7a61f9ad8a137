"""The training kit: data for models that Varve calls during a recall, their training and their evaluation."""
