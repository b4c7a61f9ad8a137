"""Orders to an assistant that hold for good, which say what the writer likes and avoids: "never book Ryanair for me"."""

from typing import Final

from extraction.offline.grammar.patterns import any_of, listed
from extraction.offline.grammar.thing_patterns import DISLIKE, END, PASTIME, PREFER, THING, Rule

_SERVED: Final = any_of(
    listed("""
    recommend, suggest, book, order, offer, serve, buy, pick, choose, play, put on, propose, include, add, give, get, send, show, reserve,
    pack, cook
""")
)
_SERVING: Final = any_of(
    listed("""
    recommending, suggesting, booking, ordering, offering, serving, buying, picking, choosing, playing, putting on, proposing, including,
    adding, giving, getting, sending, showing
""")
)
_PLEASE: Final = r"^(?:(?:and|so|also|please|pls|just|remember|note|reminder)[\s,:]+)*"
_NEVER: Final = rf"{_PLEASE}(?:never|don['’]?t ever|do not ever) (?:ever )?{_SERVED}"
_NOT: Final = rf"{_PLEASE}(?:never|don['’]?t(?: ever)?|do not(?: ever)?) {_SERVED}"
_ALWAYS: Final = rf"{_PLEASE}(?:always|only ever) {_SERVED}"
_ME: Final = r"(?: (?:me|us))?"
_FOR_ME: Final = r"(?: (?:for|to) (?:me|us))"
_AGAIN: Final = r"(?: again| ever| any ?more)?"
_SORT: Final = any_of(
    listed("""
    aisle, window, quiet, direct, non-smoking, vegetarian, vegan, ground-floor, high-floor, twin, double, single, morning, evening, early,
    late, non-stop
""")
)
STANDING_ORDERS: Final[tuple[Rule, ...]] = (
    (rf"{_NEVER}{_ME} (?:any )?{THING}{_FOR_ME}{_AGAIN}{END}", DISLIKE),
    (rf"{_NEVER} (?:me|us) (?:any )?{THING}{_AGAIN}{END}", DISLIKE),
    (rf"{_NOT}{_ME} (?:any |more )?{PASTIME}{_FOR_ME}?{_AGAIN}{END}", DISLIKE),
    (rf"{_PLEASE}(?:stop|quit) {_SERVING}{_ME} (?:any |so many |more )?{PASTIME}{END}", DISLIKE),
    (rf"{_ALWAYS}{_ME} (?:an? )?{THING}{_FOR_ME}{END}", PREFER),
    (rf"{_ALWAYS} (?:me|us) (?:an? )?{THING}{END}", PREFER),
    (rf"{_ALWAYS} (?:an? )?(?P<x>{_SORT} [a-z]+){END}", PREFER),
)
