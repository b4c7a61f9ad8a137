"""Characters that a terminal acts on."""

import unicodedata

ACTING = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def acts(text: str) -> set[str]:
    return {each for each in text if unicodedata.category(each) in ACTING and each not in "\n\t\u200c\u200d"}
