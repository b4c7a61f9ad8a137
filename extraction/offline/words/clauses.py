"""Words around the statement of a clause: adverbs, and words that end or follow a value."""

from typing import Final

from extraction.offline.grammar.patterns import listed

ADVERBS: Final = listed("""
    now, currently, still, just, recently, finally, also, actually, already, really, rly, legit, lowkey, truly, mostly, officially,
    happily, permanently, always, absolutely, quite, very much, honestly, do, both, usually, generally, particularly, especially,
    even, simply, lately, mainly, only, personally, all, both, totally, genuinely, definitely, sadly, luckily, proudly, often,
    normally, sincerely, deeply, secretly, ever, since, so, hereby, kinda, too, pretty much, as of today, these days, right now, at
    the moment, full-time, part-time, full time, part time
""")
"""May stand after the subject and the verb of a statement."""
STOPS: Final = listed("""
    and, or, but, so, because, cause, cuz, cos, which, since, for, when, while, with, without, on, until, till, from, if, at, who,
    where, though, although, as, than, that, in, near, by, after, before, during, mostly, mainly, now, these, lately, too, also,
    please, anyway, however, except, unless, is, are, was, were, me, him, her, them, us, you, every, more, most, right, over, again,
    especially, instead, any, to, all, half, about, whereas, whenever, despite, due, even, just, like, plus, rather, via, then,
    outside, inside, ever, either, always, never, yet, day, today, tonight, has, have, had, whatever, already, only, made
""")
"""Words that end a noun phrase."""
ADJUNCTS: Final = listed("""
    living, working, based, atm, rn, w, bc, coz, tho, imo, tbf, from, specializing, specialising, trying, looking, learning, who, i,
    my, across, behind, next, close, up, down, here, there, there's, btw, lol, tbh, fyi, pls, plz, ty, thx, thanks, cheers,
    together, out, online, not, last, this, back, by the way, full-time, full time, part-time, part time, actually, currently,
    recently, haha, hehe, ok, okay, yeah, yes, nowadays, myself, around, away, alone, permanently, no matter, btw, imo, ngl, ever,
    we, we're, i'm, what, any advice, can, could, do, how, between
""")
"""Words that begin something else after a value."""
