"""``varve tenants``: who may use this Varve."""

from typing import Annotated

import typer

from varve.cli.options import DataOption, load_settings

app = typer.Typer(help="Who may use this Varve.", no_args_is_help=True)


@app.command("add")
def add(
    tenant: Annotated[str, typer.Argument(help="The tenant's id.")],
    schema: Annotated[str, typer.Option(help="A shipped scenario, or the path of a schema file.")] = "companion",
    data: DataOption = None,
) -> None:
    """Add a tenant, or one more API key to it; prints the key, of which only the hash is stored."""
    from runtime.tenants import add_tenant

    settings = load_settings(data)
    typer.echo(add_tenant(settings.tenants_path, tenant, schema=schema))
    typer.echo(f"added to {settings.tenants_path}; the key above is shown this once", err=True)


@app.command("admin-key")
def admin_key(data: DataOption = None) -> None:
    """Add an operator's key, which opens `/v1/admin`; prints the key, of which only the hash is stored."""
    from runtime.tenants_file import add_admin_key

    settings = load_settings(data)
    typer.echo(add_admin_key(settings.tenants_path))
    typer.echo(f"added to {settings.tenants_path}; the key above is shown this once", err=True)


@app.command("list")
def list_all(data: DataOption = None) -> None:
    """List the tenants with their schema and number of keys."""
    from runtime.tenants import TenantDirectory

    for tenant in TenantDirectory(path=load_settings(data).tenants_path).all():
        typer.echo(f"{tenant.id}\t{tenant.schema_name}\t{len(tenant.key_hashes)} keys")
