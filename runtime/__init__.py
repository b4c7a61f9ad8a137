"""Infrastructure that every process uses: settings, logs, metrics, traces, clocks, Kafka and Redis clients.

Start at ``runtime/settings/``; ``runtime/kafka/`` and ``runtime/redis/`` are the clients.
"""
