"""Keeps the usage that models record."""

from memory.records import Usage


class UsageList(list[Usage]):
    """The recorded usages, oldest first."""

    async def record(self, usage: Usage) -> None:
        self.append(usage)
