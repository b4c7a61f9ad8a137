"""The demo's outcome as a picture (SVG), for a page that shows it."""

import io
from typing import Final

from rich.console import Console
from rich.terminal_theme import DIMMED_MONOKAI

from varve.demo.report import DemoOutcome, Extent

_WIDTH: Final = 118
_EXTENT: Final = Extent(events=3, summaries=0, entities=("user_profile", "mood_week", "promises"), recalls=3, results=1, figures=False)
_FORMAT: Final = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" role="img" aria-label="What varve demo prints">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, monospace; font-size: {char_height}px; line-height: {line_height}px; }}
.{unique_id}-title {{ font-family: ui-sans-serif, Arial, sans-serif; font-size: 18px; font-weight: bold; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal"><rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" /></clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""
"""Rich's own, but for its fonts: it names a host to load them from, and a page would ask that host for each of its readers."""


def picture_of(outcome: DemoOutcome) -> str:
    """The part of the outcome that fits a page. The same outcome gives the same picture, whatever the terminal."""
    console = Console(record=True, file=io.StringIO(), width=_WIDTH, force_terminal=True, color_system="truecolor", highlight=False)
    outcome.print_to(console, _EXTENT)
    return console.export_svg(title="varve demo", theme=DIMMED_MONOKAI, code_format=_FORMAT, unique_id="varve")
