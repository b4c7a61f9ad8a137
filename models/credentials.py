"""Whether endpoints accept their API keys: counted over calls, shown at ``/readyz`` and in ``varve_ready``.

A refused key is not the fault of the request, and does not pass without help. Work waits until an operator corrects the key and restarts
the process, or until the endpoint accepts the key again. One refusal may be the fault of the endpoint: only several in a row are shown.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from runtime.logs import logger
from runtime.probe import Check

Dependency = Literal["llm", "embedding"]

REFUSALS_SHOWN: Final = 3
"""Refusals in a row after which an endpoint's key counts as refused."""

_CHECKS: Final[dict[Dependency, str]] = {"llm": "llm_credentials", "embedding": "embedding_credentials"}

_LOG = logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialOwner:
    """An endpoint and its key."""

    dependency: Dependency
    endpoint: str
    """The endpoint's name, without key and password."""
    variable: str
    """The environment variable with the key."""


class CredentialWatch:
    """Counts refused keys by endpoint. Belongs to one process."""

    def __init__(self) -> None:
        self._refusals: dict[CredentialOwner, int] = {}
        self._problems: dict[CredentialOwner, str] = {}

    def note_refusal(self, owner: CredentialOwner, message: str) -> None:
        """Counts a call that was refused for its key."""
        self._refusals[owner] = self._refusals.get(owner, 0) + 1
        if self._refusals[owner] < REFUSALS_SHOWN:
            return
        if owner not in self._problems:
            _LOG.error("api_key_refused", dependency=owner.dependency, endpoint=owner.endpoint, variable=owner.variable, error=message)
        self._problems[owner] = f"{message}. Set {owner.variable} to a valid key; work waits until then"

    def note_success(self, owner: CredentialOwner) -> None:
        """Ends the endpoint's problem: it has accepted a call."""
        if self._problems.pop(owner, None) is not None:
            _LOG.info("api_key_accepted", dependency=owner.dependency, endpoint=owner.endpoint)
        self._refusals[owner] = 0

    def checks(self) -> dict[str, Check]:
        """A readiness check for each kind of model that was called. Not needed for readiness: a restart does not change a key."""
        checks: dict[str, Check] = {}
        for dependency in dict.fromkeys(owner.dependency for owner in self._refusals):
            problems = [problem for owner, problem in self._problems.items() if owner.dependency == dependency]
            checks[_CHECKS[dependency]] = Check(ok=not problems, needed=False, problem="; ".join(problems) or None)
        return checks


@lru_cache(maxsize=1)
def credential_watch() -> CredentialWatch:
    """The watch of this process."""
    return CredentialWatch()
