"""Faust: the application, its consumer and its rebalance signals."""
