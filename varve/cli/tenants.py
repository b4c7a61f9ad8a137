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


@app.command("signing-secret")
def signing_secret() -> None:
    """Print a new master secret for `VARVE_SIGNING__SECRET`, the same in every process. It is kept nowhere."""
    from varve.embedded.secret import new_secret

    typer.echo(new_secret())


@app.command("signing-key")
def signing_key(
    tenant: Annotated[str, typer.Argument(help="The tenant's id.")],
    key_id: Annotated[str, typer.Argument(help="The key's id: a new one to add a key, a known one to print it again.")],
    data: DataOption = None,
) -> None:
    """Add a key that the tenant's Kafka producers sign by, beside those that it has; prints the key, in hexadecimal."""
    from runtime.seals import Keyring
    from runtime.tenants_file import set_signing
    from varve.cli.options import attached_settings
    from varve.errors import SettingsError

    settings = attached_settings(data)
    keyring = Keyring.of(settings.signing)
    if keyring is None:
        raise SettingsError("set VARVE_SIGNING__SECRET first, in every process: a key follows from it (`varve tenants signing-secret`)")
    set_signing(settings.tenants_path, tenant, lambda policy: policy.with_key(key_id))
    typer.echo(keyring.message_key(tenant, key_id).hex())


@app.command("signing")
def signing(
    tenant: Annotated[str, typer.Argument(help="The tenant's id.")],
    required: Annotated[
        bool | None, typer.Option("--required/--optional", help="Whether messages produced from now on have to be signed.")
    ] = None,
    retire: Annotated[str | None, typer.Option(help="The id of a key that messages from now on may not be signed by.")] = None,
    data: DataOption = None,
) -> None:
    """Say whether a tenant's messages have to be signed, retire a key, or show both."""
    from datetime import UTC, datetime

    from runtime.message_signing import SigningPolicy
    from runtime.tenants_file import set_signing

    now = datetime.now(UTC)

    def changed(policy: SigningPolicy) -> SigningPolicy:
        if retire is not None:
            policy = policy.without_key(retire, now)
        if required is not None and required != policy.is_required(int(now.timestamp() * 1000)):
            policy = policy.required_from(now if required else None)
        return policy

    policy = set_signing(load_settings(data).tenants_path, tenant, changed)
    typer.echo("optional" if policy.required_since is None else f"required since {policy.required_since.isoformat()}")
    for key in policy.keys:
        typer.echo(f"{key.id}\t{'holds' if key.until is None else f'retired at {key.until.isoformat()}'}")
