"""Scripts that are written without spaces between words."""

import re
from typing import Final

SCRIPTS_WITHOUT_SPACES: Final = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
"""Thai and Lao, Burmese, Khmer, Japanese kana, Chinese characters: the inside of a regular expression's character class."""
RUN_WITHOUT_SPACES: Final = re.compile(rf"[{SCRIPTS_WITHOUT_SPACES}]+")
