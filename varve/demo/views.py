"""The main entities of a scenario, shown as cards and tables whose columns break no word."""

from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from typing import Annotated, Any, Final

import orjson
from pydantic import BaseModel, ConfigDict, Field
from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from memory.records import Memory
from memory.schema import EntityType, MemorySchema
from varve.output import as_markup

_BAR_CELLS: Final = 10
Value = Any
"""A value of an entity's property."""


class View(BaseModel):
    """The view of the entities of one type.

    Attributes:
        entity: The type.
        sort: The property whose values order the entities.
        descending: Whether the greatest is first.
        bars: Properties that are drawn as bars, with their least and greatest value.
        hide: Properties that are left out.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    entity: str
    sort: str | None = None
    descending: bool = False
    bars: Mapping[str, tuple[float, float]] = {}
    hide: Annotated[frozenset[str], Field(default_factory=frozenset)]


def views_of(schema: MemorySchema) -> tuple[View, ...]:
    """The entity types to show: a scenario's main ones, or all types of another schema."""
    shipped: dict[str, list[dict[str, Any]]] = orjson.loads(resources.files("varve.demo").joinpath("views.json").read_bytes())
    if schema.name in shipped:
        return tuple(View.model_validate(each) for each in shipped[schema.name])
    return tuple(View(entity=each.name, hide=frozenset()) for each in schema.entity_types)


def shown(schema: MemorySchema, entities: Sequence[Memory]) -> dict[str, list[dict[str, Value]]]:
    """The properties of the entities that the views show, by type, in the order in which they are shown.

    Args:
        schema: The tenant's schema.
        entities: All entities.
    """
    return {
        view.entity: [
            {name: value for name, value in memory.properties.items() if name not in view.hide} for memory in _members(view, entities)
        ]
        for view in views_of(schema)
    }


def rendered(schema: MemorySchema, entities: Sequence[Memory]) -> Iterator[RenderableType]:
    """The views, each a card of a single entity, or a table of several; cards if the columns do not fit. No value is cut off.

    Args:
        schema: The tenant's schema.
        entities: All entities.
    """
    for view in views_of(schema):
        entity_type = schema.entity_type(view.entity)
        members = _members(view, entities)
        if entity_type is not None and members:
            title = f"[bold]{as_markup(view.entity.replace('_', ' '))}[/]  [dim]{as_markup(entity_type.description)}[/]"
            body = _card(view, entity_type, members[0]) if len(members) == 1 else _Several(view, entity_type, members)
            yield Group("", title, body)


def _members(view: View, entities: Sequence[Memory]) -> list[Memory]:
    members = [each for each in entities if each.type == view.entity]
    if view.sort is None:
        return sorted(members, key=lambda each: each.entity_key or "")
    name = view.sort
    known = [each for each in members if each.properties.get(name) is not None]
    known.sort(key=lambda each: (each.properties[name], each.entity_key), reverse=view.descending)
    return known + [each for each in members if each.properties.get(name) is None]


def _columns(view: View, entity_type: EntityType, members: Sequence[Memory]) -> list[str]:
    """The properties that any of the entities has, in the schema's order."""
    names = [each.name for each in entity_type.properties if each.name not in view.hide]
    return [name for name in names if any(member.properties.get(name) not in (None, "", []) for member in members)]


def _card(view: View, entity_type: EntityType, memory: Memory) -> Table:
    card = Table(box=box.ROUNDED, show_header=False, pad_edge=True)
    card.add_column(style="cyan", no_wrap=True)
    card.add_column(overflow="fold")
    for name in _columns(view, entity_type, [memory]):
        card.add_row(_label(name), _cell(view, name, memory.properties.get(name)))
    return card


class _Several:
    """A table of several entities, or cards if the terminal is too narrow for the columns."""

    def __init__(self, view: View, entity_type: EntityType, members: Sequence[Memory]) -> None:
        self._view = view
        self._entity_type = entity_type
        self._members = members

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        table = _table(self._view, self._entity_type, self._members, options.max_width)
        if table is not None:
            yield table
        else:
            yield from (_card(self._view, self._entity_type, member) for member in self._members)


def _table(view: View, entity_type: EntityType, members: Sequence[Memory], room: int) -> Table | None:
    """A table of at most a number of cells; None if its columns do not fit."""
    names = _columns(view, entity_type, members)
    for key in entity_type.keys:  # values that all entities share are shown once, not in a column
        if key in names and len({str(member.properties.get(key)) for member in members}) == 1:
            names.remove(key)
    columns = [[_label(name), *(_cell(view, name, member.properties.get(name)) for member in members)] for name in names]
    # A bar that is broken over two lines is useless.
    whole = [name in view.bars for name in names]
    widths = column_widths([[Text.from_markup(cell).plain for cell in column] for column in columns], room, whole=whole)
    if widths is None:
        return None
    table = Table(box=box.ROUNDED, header_style="cyan", show_lines=any(_has_lines(member, names) for member in members))
    for name, width, is_whole in zip(names, widths, whole, strict=True):
        is_number = all(isinstance(member.properties.get(name), int | float | None) for member in members)
        table.add_column(_label(name), justify="right" if is_number else "left", overflow="fold", no_wrap=is_whole, width=width)
    for row in list(zip(*columns, strict=True))[1:]:
        table.add_row(*row)
    return table


def _has_lines(memory: Memory, columns: Sequence[str]) -> bool:
    values = [memory.properties.get(name) for name in columns]
    return any((isinstance(value, list) and len(value) > 1) or (isinstance(value, str) and "\n" in value) for value in values)


def _label(name: str) -> str:
    return as_markup(name.replace("_", " "))


def _cell(view: View, name: str, value: Value) -> str:
    text = _text(value)
    if name not in view.bars or not isinstance(value, int | float):
        return text
    least, greatest = view.bars[name]
    share = min(1.0, max(0.0, (value - least) / (greatest - least)))
    cells = round(share * _BAR_CELLS)
    colour = "green" if share >= 0.7 else "yellow" if share >= 0.4 else "red"
    return f"{text} [{colour}]{'█' * cells}[/][dim]{'░' * (_BAR_CELLS - cells)}[/]"


def _text(value: Value) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:.2f}".rstrip("0").rstrip(".")
        case list():
            return "\n".join(f"• {_text(each)}" for each in value)
        case _:
            return as_markup(str(value).strip())


READABLE: Final = 12
"""Least width of a column of longer texts, in cells: a narrower one has single words."""
_PADDING: Final = 3
"""Cells of a column in addition to its text: a blank on both sides, and a border."""


def column_widths(columns: Sequence[Sequence[str]], width: int, *, whole: Sequence[bool]) -> list[int] | None:
    """The widths of a bordered table's columns, without their padding; None if they do not fit.

    Args:
        columns: The plain texts of each column, with its heading.
        width: Width of the whole table, in cells.
        whole: Whether no line of a column may be broken.
    """
    width -= _PADDING * len(columns) + 1
    wanted = [max(map(_line, column)) for column in columns]
    least = [
        width if is_whole else max(min(width, READABLE), *map(_word, column))
        for column, width, is_whole in zip(columns, wanted, whole, strict=True)
    ]
    spare = width - sum(least)
    if spare < 0:
        return None
    widths = list(least)
    while spare and (open_to_more := [each for each, width in enumerate(widths) if width < wanted[each]]):
        narrowest = min(open_to_more, key=widths.__getitem__)
        widths[narrowest] += 1
        spare -= 1
    return widths


def _line(text: str) -> int:
    return max(map(cell_len, text.splitlines()), default=0)


def _word(text: str) -> int:
    return max(map(cell_len, text.split()), default=0)
