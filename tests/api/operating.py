"""The operators' routes, called as an operator of each role."""

from dataclasses import dataclass
from typing import Any

import httpx

from runtime.settings import Settings
from tests.api.running_service import bearer

ADMIN = "/v1/admin"


@dataclass(frozen=True, slots=True, kw_only=True)
class Operating:
    """A running service, and operators of each role."""

    settings: Settings
    http: httpx.AsyncClient
    keys: dict[str, str]

    async def ask(self, method: str, path: str, body: Any = None, *, role: str = "admin", **query: Any) -> httpx.Response:
        headers = bearer(self.keys[role])
        return await self.http.request(method, f"{ADMIN}{path}", json=body, params=query, headers=headers)

    async def done(self, method: str, path: str, body: Any = None, **query: Any) -> dict[str, Any]:
        answer = await self.ask(method, path, body, **query)
        assert answer.status_code == 200, answer.text
        content: dict[str, Any] = answer.json()
        return content
