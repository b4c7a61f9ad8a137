"""What a stage gives to be run."""

from collections.abc import Callable
from typing import Any

from runtime.settings import Settings
from streams.delivery.batch import BatchHandler
from streams.delivery.context import StageContext
from streams.delivery.driver import Driver
from streams.delivery.ordered_driver import OrderedDriver
from streams.delivery.state import Codec, RowStore

RowsOf = Callable[[int], RowStore]
NewDriver = Callable[[StageContext, RowsOf], Driver]


class NoState:
    """The codec of a stage that keeps no state."""

    def encode(self, state: None) -> bytes:
        """Nothing."""
        return b""

    def decode(self, raw: bytes) -> None:
        """Nothing."""


def ordered_driver_of(
    settings: Settings,
    codec: Codec[Any],
    new_handler: Callable[[int], BatchHandler],
    *,
    driver_class: Callable[..., OrderedDriver] = OrderedDriver,
) -> NewDriver:
    """A driver that handles every partition in the order of its log.

    Args:
        settings: The settings in force.
        codec: How the stage's state becomes bytes.
        new_handler: Makes the handler of one partition.
        driver_class: Makes the driver, for a stage whose driver does more.
    """

    def new_driver(context: StageContext, rows: RowsOf) -> Driver:
        return driver_class(
            context=context,
            new_handler=new_handler,
            rows=rows,
            codec=codec,
            max_span=settings.delivery.max_queued,
            cache_bytes=settings.delivery.state_cache_bytes,
        )

    return new_driver
