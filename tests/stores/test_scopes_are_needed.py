"""A query that names no tenant is refused twice: by the type checker, before it runs, and when it runs."""

import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from retrieval.request import RecallRequest
from stores.filters import MemoryFilter
from stores.port import RecallQuery, TenantScope
from stores.query_plan import plan_query
from tests.stores.factories import embedding

ROOT: Final = Path(__file__).parents[2]

IMPORTS: Final = """\
from models.embedding.port import Embedding
from retrieval.request import RecallRequest
from stores.filters import MemoryFilter
from stores.port import MemoryStore, RecallQuery, TenantScope


async def ask(store: MemoryStore, embedding: Embedding, tenant: str | None) -> None:
"""
WELL_TYPED: Final = (
    'scope = TenantScope("acme")',
    'RecallQuery(filter=MemoryFilter(scope=scope), text="tea", embedding=embedding)',
    'RecallRequest(filter=MemoryFilter(scope=scope), query="tea")',
    "MemoryFilter(scope=scope)",
    'await store.get(scope, ["a"])',
)
REFUSED: Final = {
    'RecallQuery(text="tea", embedding=embedding)': 'Missing named argument "filter" for "RecallQuery"  [call-arg]',
    'RecallQuery(filter=None, text="tea", embedding=embedding)': (
        'Argument "filter" to "RecallQuery" has incompatible type "None"; expected "MemoryFilter"  [arg-type]'
    ),
    'RecallRequest(query="tea")': 'Missing named argument "filter" for "RecallRequest"  [call-arg]',
    "MemoryFilter()": 'Missing named argument "scope" for "MemoryFilter"  [call-arg]',
    "MemoryFilter(scope=tenant)": (
        'Argument "scope" to "MemoryFilter" has incompatible type "str | None"; expected "TenantScope"  [arg-type]'
    ),
    "TenantScope()": 'Missing positional argument "tenant" in call to "TenantScope"  [call-arg]',
    'TenantScope(user="ann")': 'Missing positional argument "tenant" in call to "TenantScope"  [call-arg]',
    "TenantScope(tenant)": 'Argument 1 to "TenantScope" has incompatible type "str | None"; expected "str"  [arg-type]',
    'await store.get(ids=["a"])': 'Missing positional argument "scope" in call to "get" of "MemoryStore"  [call-arg]',
    "await store.count()": 'Missing positional argument "scope" in call to "count" of "MemoryStore"  [call-arg]',
    "await store.scroll()": 'Missing positional argument "scope" in call to "scroll" of "MemoryStore"  [call-arg]',
    'await store.by_evidence(messages=["m1"])': 'Missing positional argument "scope" in call to "by_evidence" of "MemoryStore"  [call-arg]',
    "await store.delete(positions={})": 'Missing positional argument "scope" in call to "delete" of "MemoryStore"  [call-arg]',
}


def test_a_query_without_a_tenant_does_not_type_check(tmp_path: Path) -> None:
    lines = [*WELL_TYPED, *REFUSED]
    snippet = tmp_path / "snippet.py"
    snippet.write_text(IMPORTS + "".join(f"    {line}\n" for line in lines))
    command = ["-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), "--no-error-summary", "--no-pretty", str(snippet)]
    checked = subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, text=True, timeout=240)
    errors = [each.partition(": error: ") for each in checked.stdout.splitlines() if ": error: " in each]
    numbers = [int(place.rpartition(":")[2]) - len(IMPORTS.splitlines()) - 1 for place, _, _ in errors]
    assert [(lines[number], error) for number, (_, _, error) in zip(numbers, errors, strict=True)] == [*REFUSED.items()], checked.stderr


@pytest.mark.parametrize(
    ("make", "fields", "missing"),
    [
        (RecallQuery, {"text": "tea", "embedding": embedding("tea")}, "filter"),
        (RecallRequest, {"query": "tea"}, "filter"),
        (MemoryFilter, {}, "scope"),
    ],
)
def test_a_request_without_a_tenant_is_not_built(make: Any, fields: dict[str, Any], missing: str) -> None:
    with pytest.raises(TypeError, match=missing):
        make(**fields)


@pytest.mark.parametrize("scope", [None, "acme", ("acme", None)])
def test_an_invalid_scope_reaches_no_store(scope: Any) -> None:
    with pytest.raises(TypeError, match="TenantScope"):
        MemoryFilter(scope=scope)
    with pytest.raises(TypeError, match="MemoryFilter"):
        plan_query(RecallQuery(filter=scope, text="tea", embedding=embedding("tea")))


@pytest.mark.parametrize("tenant", ["", None])
def test_a_scope_of_no_tenant_is_not_built(tenant: Any) -> None:
    with pytest.raises(ValueError, match="tenant"):
        TenantScope(tenant)
    with pytest.raises(TypeError, match="tenant"):
        TenantScope(user="ann")  # type: ignore[call-arg]
