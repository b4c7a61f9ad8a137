"""Finds messages that a later message of the same speaker takes back: "just kidding", "of course it isn't", "only for tonight"."""

import re
from collections.abc import Sequence
from typing import Final

from extraction.offline.factuality.frame_cues import RELATED_TYPIST
from extraction.offline.factuality.mood_patterns import TAKEN_BACK
from extraction.offline.grammar.patterns import any_of, either, listed
from memory.texts.prefiltered_patterns import compiled

_OPENER: Final = (
    r"^\W*(?:(?:(?:ha)+h?|lol|lmao|rofl|he(?:he)+|xd|ok|okay|oh|no|nah|nope|well|ah|but|and|sorry|oops|whoops|actually|honestly|wait|um|hmm|just"
    r"|only|yeah|yes|haha\w*|not really|not at all|i admit|i confess|i must admit|fine|to be honest)\b\W*)*"
)
_JOKING: Final = any_of(
    listed("""
    kidding, joking, messing, messing with you, messing around, teasing, teasing you, pulling your leg, trolling, trolling you, jk, j/k,
    bluffing, lying, exaggerating, being sarcastic, being ironic, being silly, being facetious, sarcastic, ironic, testing you,
    fooling around,
    fooling you, making that up, making it up, winding you up
""")
)
_NO_STATEMENT: Final = any_of(
    listed("""
    joke, lie, sarcasm, sarcastic, irony, ironic, prank, test, fib, quote, lyric, lyrics, song, joking, made up, invented, nonsense, bluff,
    typo, mistake, for fun, fiction, fictional, fake, untrue, false, not true, not serious, not me, not my name, not real, wrong chat,
    wishful
    thinking, copy-paste error, autocorrect
""")
)
_BARE: Final = any_of(
    listed("""
    sarcasm, irony, psych, psyche, gotcha, made you look, fooled you, got you, as if, in my dreams, yeah right, had you there, april fools,
    april fool, april fool's, wrong chat, wrong window, wrong person, wrong thread, wrong group, scratch that, strike that, ignore that,
    scrap that, cancel that, erase that, ignore
    this, ignore it, ignore my last, ignore the last, ignore me, disregard, forget i said, forget what i, forget that, never mind what i,
    nevermind what i, delete that, i lied, i made that up, i made it up, made that up, made it up, i take that back, i take it back,
    said no one
    ever, not true, untrue, none of that, none of it, you believed, you fell for, i was never, bazinga
""")
)
_SHORT: Final = r"(?:\W*(?:lol|lmao|(?:ha)+h?|xd|obviously|of course|sorry|at all|honestly|actually|😂|🤣))*\W*$"
_SURE: Final = either(
    rf"{_OPENER}(?:i(?:['’]?m| am| was)? )?(?:(?:just|only|totally|obviously|of course|clearly) )*{_JOKING}\b(?! (?:me|us)\b)",
    rf"{_OPENER}(?:obviously |of course |clearly )?(?:that|this|it|the last (?:one|message|bit|part)|all that)(?:['’]s| is| was|['’]re"
    rf"| were)"
    rf"(?: (?:just|only|all|obviously|clearly|totally|meant as|supposed to be|of course|from|an?|the|complete|total|little"
    rf"|bad))* {_NO_STATEMENT}\b",
    rf"{_OPENER}(?:obviously |of course |clearly )?(?:that|this|it)(?:['’]s| is| was)? (?:not|wasn['’]?t|isn['’]?t) (?:true|me|my name"
    rf"|mine|real|serious"
    r"|meant)",
    rf"{_OPENER}{_BARE}\b",
    rf"{_OPENER}(?:(?:that|this|it|which) )?(?:turned out|turns out|proved)(?: (?:to be|that was|it was|to have been))?"
    rf"(?: (?:just|only|an?|completely|all))* (?:wrong|false|untrue|mistake|misunderstanding|joke|i['’]?m not|i am not|i was wrong)\b",
    rf"{_OPENER}never ?mind(?: (?:that|this|it))?\W+(?:(?:that|this|it)(?:['’]s| is| was) )?(?:not true|wrong|nonsense|a mistake)\b",
    rf"{_OPENER}(?:i|we) (?:only |just )?wish\W*$|{_OPENER}(?-i:NOT)\W*$|^\W*not\s*!+\W*$",
    rf"{_OPENER}(?:it |that |this )?(?:was |were |is )?(?:my|our|the) (?:\w+ )?{RELATED_TYPIST}(?: (?:who )?(?:wrote|typed|sent"
    rf"|posted) (?:that|this|it)|['’]s (?:line|words)"
    r"| typing| talking)",
    rf"{_OPENER}(?:was |were )?(?:never|meant for|for) (?:someone|somebody) else\b",
)
"""Takes back what was said, whatever came in between."""
_CHANGED: Final = either(
    rf"{_OPENER}(?:it |that |this )?(?:was |is )?(?:my|our|the) (?:\w+ )?{RELATED_TYPIST}\W*$",
    rf"{_OPENER}(?:i (?:don['’]?t|didn['’]?t|did not) (?:really )?mean (?:that|it)|wrong (?:account|number|tab|channel|app|conversation"
    rf"|phone))\b",
    rf"{_OPENER}(?:that|this|it)(?:['’]?s| is| was| were)? (?:old|outdated|ages ago|years ago|last \w+|before|back (?:then|in|when)"
    rf"|in (?:19|20)\d\d"
    r"|no longer|over|history|in the past|a while ago|once|long ago|years back)\b",
    r"^\W*(?:(?:well|ok|okay|but|at least|only|oh|ah)\W+)*(?:until|unless|except|as long as|in theory|not (?:literally|exactly|quite)"
    r"|no longer"
    r"|not any ?more|supposedly|allegedly|sort of|kind of|in spirit|at heart|on paper)\b",
    r"^\W*(?:and |so |but )?(?:if|did|do) you (?:really |actually )?(?:believe|believed|buy|bought|fall for|fell for)\b",
)
"""Limits what was said, dates it to the past, or asks whether it was believed, unless it answers a question."""
_OTHERWISE: Final = compiled(
    r"^\W*(?:nah|nope|no)\b\W+(?:(?:but )?(?:seriously|honestly|actually)\W+)?"
    r"(?=(?:i|i['’]?m|my|it['’]?s|we)\b)(?!i (?:mean|meant|swear|promise|really|do|said|am)\b|i['’]?m (?:serious|not (?:kidding|joking)))",
    re.IGNORECASE,
)
"""Says something else instead: "nah I sell shoes"."""
_DENIAL: Final = either(
    rf"{_OPENER}(?:of course|obviously|clearly|certainly)(?: (?:i(?:['’]?m| am| do| have)?|it(?:['’]?s| is)?|that(?:['’]?s| is)?))?"
    r" (?:not|isn['’]?t|don['’]?t|haven['’]?t|never)\b",
    rf"{_OPENER}(?:i(?:['’]?m| am) not|i (?:don|haven|didn|do not|have not)(?:['’]?t)?|it isn['’]?t|it(?:['’]?s| is) not|that(?:['’]?s"
    rf"| is) not"
    rf"|that isn['’]?t|i never (?:was|did|have)|never (?:was|been|have|had it|had one|did|tried it)|not (?:at all|really)){_SHORT}",
    r"^\W*(?:(?:lol|lmao|(?:ha)+h?|haha\w*|xd|ok|well)\W+)*(?:no|nah|nope)\b(?:\W+(?:lol|lmao|haha\w*|xd|😂|🤣))*\W*$",
    rf"{_OPENER}never (?:had|tried|been|was|did)\b",
)
"""Denies what was said unless it answers a question."""
_NOT_AT_END: Final = re.compile(r"[.!…]\s*NOT\s*[.!]*$")
_LIMIT: Final = either(
    r"^\W*(?:(?:well|but|though|and|actually|it['’]?s|that['’]?s|i mean)\W+)*(?:just|only) for (?:today|tonight|this (?:week|evening"
    r"|afternoon|morning|once"
    r"|weekend|month)|the (?:day|night|evening|weekend|week|afternoon|summer|moment)|a (?:day|night|week|few|couple|bit|month)|now)\b",
    r"^\W*(?:(?:well|but|though|and)\W+)*(?:just|only) (?:today|tonight|this (?:week|evening|once|weekend))\b(?=\W*$|,| though)",
    r"^\W*(?:for )?(?:today|tonight|this (?:week|evening|weekend)) only(?=\W*$|,| though)",
)
_ECHO: Final = re.compile(
    r"^\W*(?:(?:wow|oh|ooh|haha|cool|nice|wait|hm+|huh|what)\W+)*(?:really|seriously|honestly|for real|truly|are you(?: serious| sure"
    r"| really)?|you are"
    r"|who(?:['’]s| is| was) (?:this|that|typing|there|talking)|who (?:wrote|typed|sent|said) (?:this|that|it)"
    r"|do you(?: really)?|you do|is it(?: really)?|is that (?:so|true|right)|no way)\W*$",
    re.IGNORECASE,
)
"""A question about the claim itself."""
_WHOLE: Final = compiled(r"\b(?:all (?:of )?(?:it|that|this)|everything|none of (?:it|that)|any of (?:it|that))\b", re.IGNORECASE)
_LONGEST_WITH_REST: Final = 1000
"""Characters of a message that takes something back and goes on."""
_LONGEST: Final = 80
"""Characters of a message that only takes back the one before it."""
_REST: Final = re.compile(r"(?:\s*[,.!;:—–-]+\s*|\s*(?=(?:i|i['’]?m|my|we)\b))(?P<rest>.*)$", re.DOTALL | re.IGNORECASE)


def without_taken_back(
    said: Sequence[str], own: Sequence[str], speakers: Sequence[str], is_user: Sequence[bool], questions: Sequence[Sequence[str]]
) -> list[str]:
    """The own texts of messages, without those that the speaker's next message takes back and without the words that do so.

    Args:
        said: The texts of the messages.
        own: For each message the part in its speaker's own voice.
        speakers: The speaker of each message.
        is_user: Whether each message is a user's.
        questions: The questions in each message.
    """
    kept = ["" if _NOT_AT_END.search(text) else text for text in own]
    last: dict[str, int] = {}
    """For each speaker, their latest message."""
    for index, text in enumerate(said):
        if not is_user[index]:
            continue
        before = last.get(speakers[index])
        if before is not None and text:
            asked = [question for each in range(before + 1, index) if not is_user[each] for question in questions[each]]
            rest = _rest_of_takeback(text, is_answer=any(_ECHO.match(each) is None for each in asked))
            if rest is not None:
                kept[index] = rest if own[index] == text else ""
                for each in range(before, -1, -1):
                    if speakers[each] == speakers[index] and is_user[each]:
                        kept[each] = ""
                    if _WHOLE.search(text) is None or not is_user[each]:
                        break
        last[speakers[index]] = index
    return kept


def _rest_of_takeback(text: str, *, is_answer: bool) -> str | None:
    """The rest of a message after the words that take back the one before; None if it does not take anything back."""
    if len(text) > _LONGEST_WITH_REST:
        return None
    found = _SURE.match(text) or (None if is_answer else _denied(text)) or _LIMIT.match(text)
    if found is None:
        return "" if not is_answer and len(text) <= _LONGEST and TAKEN_BACK.search(text) is not None else None
    rest = _REST.match(text, found.end())
    return rest["rest"] if rest is not None else ""


def _denied(text: str) -> re.Match[str] | None:
    return _DENIAL.match(text) or _CHANGED.match(text) or _OTHERWISE.match(text)
