"""An agent that edits blocks over HTTP."""

from typing import Any

import httpx

from tests.api.running_service import bearer
from tests.streams.agent_remarks import BLOCK

PATH = f"/v1/blocks/core_memory/{BLOCK}"


class Agent:
    """An outside agent with its own key."""

    def __init__(self, http: httpx.AsyncClient, key: str, user: str | None = "ann") -> None:
        self._http = http
        self._headers = bearer(key)
        self._user = {} if user is None else {"user": user}

    async def read(self) -> dict[str, Any]:
        response = await self._http.get(PATH, params=self._user, headers=self._headers)
        assert response.status_code == 200, response.text
        block: dict[str, Any] = response.json()
        return block

    async def edit(self, tool: str, *, key: str | None = None, **arguments: Any) -> httpx.Response:
        headers = self._headers | ({} if key is None else {"Idempotency-Key": key})
        return await self._http.post(f"{PATH}/edits", json={**self._user, "tool": tool, **arguments}, headers=headers)

    async def undo(self, edit: str) -> httpx.Response:
        return await self._http.post(f"{PATH}/edits/{edit}/undo", json=self._user, headers=self._headers)

    async def search(self, query: str, page: int = 0) -> dict[str, Any]:
        response = await self._http.post("/v1/blocks/search", json={**self._user, "query": query, "page": page}, headers=self._headers)
        assert response.status_code == 200, response.text
        found: dict[str, Any] = response.json()
        return found


def applied(response: httpx.Response) -> str:
    """The id of an edit that was applied."""
    assert response.status_code == 200, response.text
    return str(response.json()["id"])
