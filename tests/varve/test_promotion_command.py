"""``varve tenants promote``, as it is typed."""

from pathlib import Path

from typer.testing import CliRunner

from stores.errors import StoreUnavailableError
from varve.cli.application import app
from varve.errors import SettingsError


def test_an_edge_shard_has_nothing_to_promote_to(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ("tenants", "promote", "acme"), env={"VARVE_DATA": str(tmp_path), "VARVE_STORE__KIND": "edge"})
    assert isinstance(result.exception, SettingsError)
    assert "set it to server" in str(result.exception)


def test_an_unavailable_server_is_named(tmp_path: Path) -> None:
    away = {"VARVE_DATA": str(tmp_path), "VARVE_STORE__KIND": "server", "VARVE_STORE__GRPC_PORT": "1", "VARVE_STORE__TIMEOUT_S": "1"}
    result = CliRunner().invoke(app, ("tenants", "promote", "acme"), env=away)
    assert isinstance(result.exception, StoreUnavailableError)
    assert "collection 'varve'" in str(result.exception)
