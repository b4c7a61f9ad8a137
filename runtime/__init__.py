"""What processes run on: settings, logs, metrics, traces, clocks, Kafka and Redis clients."""
