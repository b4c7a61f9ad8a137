"""Groups of commands. An unknown command is answered with those that fit it."""

import re
from difflib import get_close_matches
from typing import Any, Final

from typer.core import TyperGroup

_LEAST_SIMILARITY: Final = 0.75
"""Below it, a name is another word, and no misspelt one."""
_MOST: Final = 3
_WORD: Final = re.compile(r"[a-z]+")


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
