"""Infrastructure that every process uses: settings, logs, metrics, traces, clocks, Kafka and Redis clients.

Start at ``runtime/settings/``; ``runtime/kafka/`` and :mod:`runtime.redis` are the clients. A module that keeps one thing in Redis has that
thing's name, and its keys are in :mod:`runtime.redis_keys`.
"""
