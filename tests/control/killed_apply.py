"""Runs ``varve apply``, and kills its own process at a moment: ``python -m tests.control.killed_apply MOMENT FILE``."""

import os
import signal
import sys
from typing import Any, Final

from aiokafka import AIOKafkaProducer

from control import ControlWriter
from control.writer import ControlSession
from runtime.kafka.transactional import TransactionalProducer
from varve.cli.application import main

MOMENTS: Final[dict[str, tuple[type, str, bool]]] = {
    "fenced": (TransactionalProducer, "start", True),
    "read": (ControlSession, "open", True),
    "produced": (AIOKafkaProducer, "commit_transaction", False),
    "committed": (AIOKafkaProducer, "commit_transaction", True),
    "settling": (ControlWriter, "settle", False),
}
"""A method, and whether it has been applied by then."""
NOT_YET: Final = ("fenced", "read", "produced")
"""The moments before the transaction is committed."""


def die_at(moment: str) -> None:
    """From now on this process ends there as by `kill -9`."""
    owner, name, is_done = MOMENTS[moment]
    method = getattr(owner, name)

    async def wrapped(*arguments: Any, **named: Any) -> Any:
        if is_done:
            await method(*arguments, **named)
        os.kill(os.getpid(), signal.SIGKILL)

    setattr(owner, name, wrapped)


if __name__ == "__main__":
    die_at(sys.argv[1])
    sys.argv = ["varve", "apply", "-f", sys.argv[2]]
    main()
