"""Common parts of Lua scripts: the clock, and leases that expire."""

from typing import Final

# The time is Redis's, so that the processes' clocks need not agree; a test may pass the time.
CLOCK: Final = """
local function clock(given)
  if given ~= '' then return tonumber(given) end
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
"""
"""``clock(given)``: the time in milliseconds since the epoch."""

LEASES: Final = """
local function leases_out(leases, now)
  redis.call('ZREMRANGEBYSCORE', leases, '-inf', now)
  return redis.call('ZCARD', leases)
end
local function take_lease(leases, now, lease, lease_ms)
  redis.call('ZADD', leases, now + lease_ms, lease)
  redis.call('PEXPIRE', leases, lease_ms * 2)
end
"""
"""``leases_out(key, now)`` and ``take_lease(key, now, id, milliseconds)``. A lease that is not released, as after a kill, expires."""
