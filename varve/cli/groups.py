"""Groups of commands. An unknown command is answered with those that fit it."""

import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, Final

from typer.core import TyperGroup

_LEAST_SIMILARITY: Final = 0.75
"""Below it, a name is another word, and no misspelt one."""
_MOST: Final = 3
_WORD: Final = re.compile(r"[a-z]+")

PURPOSES: Final[Mapping[str, tuple[str, ...]]] = {
    "Try Varve": ("demo", "dev", "fetch", "extract", "prompt"),
    "Use a running service": ("send", "recall", "context", "import", "memories", "messages", "entities", "mcp"),
    "Manage tenants": ("tenants", "keys", "operators", "schemas", "methods", "webhooks", "usage", "apply", "export", "audit"),
    "Handle personal data": ("erase", "erasures", "retention", "holds", "trust"),
    "Run the processes": ("topics", "worker", "serve", "canary", "status", "config"),
    "Repair": ("dlq", "replay", "rebuild", "accept-loss", "prove", "snapshot"),
    "Change models": ("generations", "reindex", "ranking"),
}
"""The commands of ``varve`` by what they are for, in the order of ``varve --help``."""


class CommandGroup(TyperGroup):
    """Suggests the commands with a similar name, or else those whose help has the word, such as ``dlq`` for ``letters``."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the arguments begin with."""
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            fitting = self._fitting(name)
            group = ctx.command_path.removeprefix(ctx.find_root().command_path)
            hint = f"Did you mean {', '.join(map(repr, fitting))}?" if fitting else f"`varve{group} --help` lists all commands."
            ctx.fail(f"No such command {name!r}. {hint}")
        return super().resolve_command(ctx, args)

    def _fitting(self, name: str) -> list[str]:
        close = get_close_matches(name, self.commands, n=_MOST, cutoff=_LEAST_SIMILARITY)
        wanted = {each.removesuffix("s") for each in _WORD.findall(name.lower())}
        described = {
            each: {word.removesuffix("s") for word in _WORD.findall((command.help or "").lower())}
            for each, command in self.commands.items()
        }
        return close or [each for each, words in described.items() if wanted and wanted <= words][:_MOST]


class RootGroup(CommandGroup):
    """Shows the commands of ``varve`` in panels by purpose."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of the commands, in the order of their purposes."""
        return [name for names in PURPOSES.values() for name in names]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of a name, with its panel; None if there is none."""
        command: Any = super().get_command(ctx, cmd_name)
        if command is not None:
            command.rich_help_panel = next(purpose for purpose, names in PURPOSES.items() if cmd_name in names)
        return command
