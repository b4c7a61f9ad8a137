"""Pages of the service: none of them loads anything from another site."""

import re

import httpx
import pytest

from api.app import create_app
from runtime.settings import ConsoleSettings, Settings

PATHS = ("/", "/docs", "/docs/oauth2-redirect", "/redoc", "/console", "/console/", "/console/memories")


@pytest.mark.parametrize("path", PATHS)
async def test_no_page_loads_another_sites_script(path: str) -> None:
    app = create_app(Settings(console=ConsoleSettings(enabled=True)))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://varve") as http:
        page = await http.get(path)
    assert not re.search(r"""(src|href)\s*=\s*["']?(https?:)?//""", page.text)
    if page.headers.get("content-type", "").startswith("text/html"):
        assert "script-src 'self'" in page.headers["content-security-policy"]
