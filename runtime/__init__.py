"""Infrastructure that every process uses: settings, logs, metrics, traces, clocks, Kafka and Redis clients."""
