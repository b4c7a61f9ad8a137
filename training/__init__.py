"""The training kit: data for, and later the training of, the models that Varve calls during a recall."""
