"""How a stage makes the driver of its worker."""

from collections.abc import Callable
from typing import Any

from runtime.settings import Settings
from streams.delivery.batch import BatchHandler
from streams.delivery.context import StageContext
from streams.delivery.driver import Driver
from streams.delivery.ordered_driver import OrderedDriver
from streams.delivery.state import Codec

DriverFactory = Callable[[StageContext], Driver]


def ordered_driver_factory(
    settings: Settings,
    codec: Codec[Any],
    new_handler: Callable[[int], BatchHandler],
    *,
    driver_class: Callable[..., OrderedDriver] = OrderedDriver,
) -> DriverFactory:
    """Makes drivers that handle every partition in the order of its log.

    Args:
        settings: The settings in force.
        codec: How the stage's state becomes bytes.
        new_handler: Makes the handler of one partition.
        driver_class: The class of driver, for a stage whose driver does more.
    """

    def new_driver(context: StageContext) -> Driver:
        return driver_class(
            context=context,
            new_handler=new_handler,
            codec=codec,
            max_queued=settings.delivery.max_queued,
            max_queued_bytes=settings.delivery.max_queued_bytes,
            cache_bytes=settings.delivery.state_cache_bytes,
        )

    return new_driver
