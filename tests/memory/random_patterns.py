"""Random regular expressions."""

from hypothesis import strategies as st

_ATOMS = (
    "a",
    "b",
    "ab",
    "A",
    "İ",
    "é",
    r"\?",
    "7",
    " ",
    r"\s+",
    r"\W*",
    r"\d",
    "['’]?",
    "[ab]",
    "[a-c]",
    "[^a]",
    "[?!]",
    ".",
    r"\b",
    r"\w+",
    "^",
    "$",
)

_REPEATED = st.sampled_from(("?", "*", "+", "{2}", "{0,3}?"))


def _patterns(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.lists(inner, min_size=1, max_size=4).map("".join),
        st.lists(inner, min_size=2, max_size=4).map(lambda parts: f"(?:{'|'.join(parts)})"),
        st.tuples(st.sampled_from(_ATOMS), _REPEATED).map(lambda pair: f"(?:{pair[0]}){pair[1]}"),
        inner.map(lambda part: f"(?:{part})?"),
        st.tuples(st.sampled_from(("(?=", "(?!", "(", "(?-i:", "(?>")), inner).map(lambda pair: f"{pair[0]}{pair[1]})"),
        st.sampled_from((r"(?<!\w)", r"(?!\w)", r"(?<=a)", r"(?<!b)", "(?<= )")),
    )


PATTERNS = st.recursive(st.sampled_from(_ATOMS), _patterns, max_leaves=12)
