"""Webhooks: sends the changes of tenants' memories to their receivers.

The path of a change: :mod:`~api.webhooks.fan_out`, :mod:`~api.webhooks.deliverer`, :mod:`~api.webhooks.lane`,
:mod:`~api.webhooks.attempts`, :mod:`~api.webhooks.sender`. Start at :mod:`api.webhooks.service`.
"""
