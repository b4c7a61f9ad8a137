"""``python -m tests.chaos.failpoint_worker FAILPOINT_FILE STAGE``: ``varve worker``, which dies at the step that the file names."""

import sys
from pathlib import Path

from tests.chaos.failpoints import FailpointFile, install
from varve.cli import main

if __name__ == "__main__":
    failpoint_file, stage = sys.argv[1:]
    install(FailpointFile(Path(failpoint_file)))
    sys.argv = ["varve", "worker", stage]
    main()
