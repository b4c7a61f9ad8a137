"""The imports of a process that calls no model."""

import subprocess
import sys


def test_without_an_endpoint_its_library_is_not_imported() -> None:
    code = (
        "import sys\n"
        "import api.serve, streams.stages.extraction.build\n"
        "from models.llm.build import build_llm\n"
        "from runtime.settings import Settings\n"
        "assert build_llm(Settings(), redis=None, usage=None) is None\n"
        "sys.exit('openai' in sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
