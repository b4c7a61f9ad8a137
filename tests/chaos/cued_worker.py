"""``python -m tests.chaos.cued_worker CUE_FILE STAGE``: ``varve worker``, which dies at the step that the cue file names."""

import sys
from pathlib import Path

from tests.chaos.cues import CueFile, install
from varve.cli import main

if __name__ == "__main__":
    cue_file, stage = sys.argv[1:]
    install(CueFile(Path(cue_file)))
    sys.argv = ["varve", "worker", stage]
    main()
