"""Fixtures of the console's tests: a stack, and pages of a real Chromium."""

import os
import shutil
import site
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.console.console_stack import ConsoleStack, console_stack

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

ENVIRONMENT: Final = os.environ.get("VARVE_TEST_CONSOLE")
"""A virtual environment with Playwright."""
RUNNING: Final = os.environ.get("VARVE_TEST_CONSOLE_DATA")
"""The data folder of a stack that runs already. Default: the tests start a stack."""
CHROMIUM: Final = os.environ.get("VARVE_TEST_CHROMIUM") or shutil.which("chromium")
SCREENSHOTS: Final = Path(__file__).parents[2] / "build" / "console"

_RECORD_VIOLATIONS: Final = """
addEventListener("securitypolicyviolation", (event) => console.error(`CSP violation: ${event.violatedDirective} ${event.blockedURI}`));
"""
_EXPECTED: Final = ("Failed to load resource",)
"""Messages of the browser about refused requests, which the pages show in their own words."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "stack" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.external)
            # The stack starts within the first test.
            item.add_marker(pytest.mark.timeout(900))


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConsoleStack]:
    """A stack with data, for all tests of the console."""
    if ENVIRONMENT is None:
        pytest.skip("Playwright is not installed: make test-console")
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed: apt-get install chromium, or name it in VARVE_TEST_CHROMIUM")
    with console_stack(Path(RUNNING) if RUNNING else tmp_path_factory.mktemp("console") / "data") as running:
        yield running


@pytest.fixture(scope="session")
def browser(stack: ConsoleStack) -> Iterator["Browser"]:
    """Chromium. It starts after the stack is seeded: the seeding runs an event loop, which Playwright's own would forbid."""
    [packages] = (Path(str(ENVIRONMENT)).resolve() / "lib").glob("python3*/site-packages")
    site.addsitedir(str(packages))
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=30_000)
    with sync_playwright() as playwright:
        # Chromium's sandbox does not work for root, for example in a container.
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"] if os.geteuid() == 0 else [])
        yield browser
        browser.close()


class Visitor:
    """A person with a browser window.

    Args:
        page: The window.
        stack: The stack whose console it shows.
    """

    def __init__(self, page: "Page", stack: ConsoleStack) -> None:
        self.page = page
        self.stack = stack
        self.complaints: list[str] = []
        page.on("console", self._note)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def sign_in(self, key: str | None = None, path: str = "/") -> "Page":
        """Opens a page of the console, and signs in with a key. Default: the tenant's key with every scope."""
        self.page.goto(self.stack.console + path)
        self.page.get_by_label("API key").fill(key or self.stack.tenant_key)
        self.page.get_by_role("button", name="Sign in").click()
        self.page.get_by_role("button", name="Sign out").wait_for()
        return self.page

    def picture(self, name: str) -> None:
        """Saves a screenshot."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png")

    def _note(self, message: Any) -> None:
        if message.type == "error" and not message.text.startswith(_EXPECTED):
            self.complaints.append(message.text)


@pytest.fixture
def visitor(browser: "Browser", stack: ConsoleStack) -> Iterator[Visitor]:
    """A visitor with a wide window. The test fails if the browser reports an error or a violation of the content security policy."""
    yield from _visitor(browser.new_context(viewport={"width": 1360, "height": 900}), stack)


@pytest.fixture
def phone_visitor(browser: "Browser", stack: ConsoleStack) -> Iterator[Visitor]:
    """A visitor with a window of 380 pixels."""
    yield from _visitor(browser.new_context(viewport={"width": 380, "height": 800}, has_touch=True), stack)


def _visitor(context: "BrowserContext", stack: ConsoleStack) -> Iterator[Visitor]:
    context.add_init_script(_RECORD_VIOLATIONS)
    visitor = Visitor(context.new_page(), stack)
    visitor.page.set_default_timeout(30_000)
    yield visitor
    context.close()
    assert visitor.complaints == []
