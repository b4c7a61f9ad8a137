"""Sets clauses apart that people write one after the other without a mark: "i live in ohio i have two dogs"."""

import re
from typing import Final

from extraction.offline.grammar.patterns import any_of, cue, listed
from memory.texts.prefiltered_patterns import compiled

_VERBS: Final = any_of(
    listed("""
    am, am not, was, have, had, have been, don't, do not, didn't, did not, can't, cannot, can, live, work, love, like, hate, enjoy, prefer,
    want, need, go, went, play, study, teach, own, grew up, moved, just moved, got, used to, eat, drink, drive, collect, speak, read, watch,
    listen, make, run, started, hope, plan, miss
""")
)
_ADVERBS: Final = r"(?:(?:also|just|really|only|still|usually|always|never|now|mostly|actually|currently|even|sometimes|often) )*"
_COMPLEMENT: Final = r"(?: (?!(?:and|or|but|is|are|was|were|so|because|the most|most|best|in|on|at|with|for|about|from)\b)[\w'’-]+)"
_RUN_ON: Final = compiled(
    rf"(?<![.,;:!?–—-]) (?=(?:i|we) {_ADVERBS}{_VERBS}\b{_COMPLEMENT}"
    rf"|(?:i|we) {_ADVERBS}(?:live|work|am|grew up|go|went|moved) (?:in|on|at|with|for|from|to) (?!now\b|today\b)\w"
    r"|i['’]?m (?!(?:in|with|for|about)\b)[\w'’-]+"
    r"|my (?:(?:favou?rite )?[a-z]+ ){1,2}(?:is|are|has|have|was|loves|likes|works|lives)\b"
    r"|(?:do|are|have|what do|where do|how about|what about|what is|what['’]s|whats) (?:you|your)\b|what is yours\b)",
    re.IGNORECASE,
)
"""The blank before a subject, its verb and a complement: a relative clause ("the dogs i have") has none."""
_COMPLETE: Final = compiled(r"\b(?:i|i['’]?m|i['’]ve|we|my (?:name|favou?rite(?: \w+)?) is)\b", re.IGNORECASE)
"""A clause of the writer's. Other words before another subject are its time or place, or report it: "Last year I", "My mum says I"."""
_SUBORDINATE: Final = cue(
    listed("""
    if, when, whenever, since, because, cause, cuz, while, until, till, unless, before, after, though, although, once, whether, every
    time, last time, next time, that, which, who, what, how, why, where, the more, than, think*, thought, know, knew, guess*, hope*,
    hoping, wish*, bet, feel*, felt, mean, meant, believe*, say*, said, tell*, told, hear*, heard, swear*, swore, claim*, reckon*,
    suppose*, assum*, imagin*, pretend*, dream*, remember*, forget*, forgot, realis*, realiz*, find out, found out, doubt*, suspect*,
    figure*, decid*, admit*, deny, insist*, promis*, wonder*, mention*, notice*, show*, prove*, explain*, agree*, worr*, fear*, learn*,
    understand*, sure, glad, sorry, afraid, lucky, convinced, certain
""")
)
"""Conjunctions, and verbs and adjectives that take a clause: "I can't claim I'm a baker"."""
_CONTINUED: Final = any_of(
    listed("""
    and, but, or, so, nor, like, now, then, the, a, an, my, your, our, his, her, their, this, of, to, in, on, at, for, with, from, by,
    about, not, am, is, are, was, were, i, we, he, she, they, as, do, does, did, have, has, had, can, will, would, could, should,
    things, all, everything, one, only, way, time, place, reason, day, moment, first, also, just, really, yes, yeah, no, ok, oh, lol
""")
)
_RELATIVE: Final = (
    r"(?:\b(?:it is|it['’]s|the|all|every|only|best|first|last|things?|(?:is|was|are|were) an?)|['’]s an?) (?:[\w'’-]+ ){0,2}[\w'’-]+"
)
_OPEN: Final = compiled(rf"(?:\b{_CONTINUED}|{_RELATIVE})$", re.IGNORECASE)
"""After these words, a subject and its verb belong to the clause before, as a relative clause does."""
_FEWEST_WORDS: Final = 3


def with_run_ons_apart(text: str) -> str:
    """A message with a full stop between clauses that no mark and no conjunction joins. Only facts and types are read from it.

    Args:
        text: A message, or the part of it in the speaker's own voice.
    """
    parts: list[str] = []
    done = 0
    for found in _RUN_ON.finditer(text):
        clause = re.split(r"[.,;:!?\n]", text[done : found.start()])[-1]
        is_whole = len(clause.split()) >= _FEWEST_WORDS and _COMPLETE.search(clause) is not None
        if not is_whole or _SUBORDINATE.search(clause) is not None or _OPEN.search(clause) is not None:
            continue
        parts.append(text[done : found.start()])
        done = found.end()
    return ". ".join([*parts, text[done:]])
