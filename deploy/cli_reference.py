"""``docs/reference/cli.md``: the commands of ``varve``, from their own definitions."""

from collections.abc import Iterator
from typing import Any

import typer

from varve.cli.application import app

_HEAD = """# Command line

Generated from the commands by `make generated`; `varve COMMAND --help` prints the same.
"""


def cli_markdown() -> str:
    """All commands, each with its arguments and options."""
    parts = [_HEAD]
    for path, command in sorted(_commands("varve", typer.main.get_command(app))):
        parts.append(f"\n## `{path}`\n\n{_plain(command.help)}\n")
        rows = [row for each in command.params if not each.hidden and "--help" not in each.opts for row in (_row(each),)]
        if rows:
            parts.append("\n| argument or option | default | what it is |\n|---|---|---|\n" + "".join(rows))
    return "".join(parts)


def _commands(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    """The commands below one, with how they are typed."""
    below = getattr(command, "commands", None)
    if below is None:
        yield path, command
        return
    for name, each in below.items():
        if not each.hidden:
            yield from _commands(f"{path} {name}", each)


def _row(parameter: Any) -> str:
    is_argument = parameter.param_type_name == "argument"
    names = parameter.name.upper() if is_argument else ", ".join([*parameter.opts, *parameter.secondary_opts])
    default = "required" if parameter.required else _default(parameter)
    return f"| `{names}` | {default} | {_plain(parameter.help)} |\n"


def _default(parameter: Any) -> str:
    default = parameter.default
    return "" if default is None or default is False or callable(default) or default in ((), "") else f"`{default}`"


def _plain(text: str | None) -> str:
    return " ".join((text or "").split()).replace("|", "\\|")
