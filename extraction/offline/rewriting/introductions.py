"""Puts introductions into the forms of the grammar: "hey, it's Tamsin", "I'm Rafał, 35, a tiler, married to Ewa"."""

import re
from typing import Final

from extraction.offline.grammar.patterns import any_of
from extraction.offline.rewriting.profile_lists import ARTICLE, GREETS, NAME, is_name, with_lists_as_statements
from extraction.offline.words.occupations import is_occupation
from extraction.offline.words.people import RELATIVES
from memory.texts.prefiltered_patterns import Replacement, Rewrites


def _first_replaced(pattern: re.Pattern[str], replacement: Replacement, text: str) -> str:
    return pattern.sub(replacement, text, count=1)


_REWRITES: Final = Rewrites(
    (
        (
            r"^\W*(?:for (?:the (?:minutes|notes|record|log|file|group|chat|newcomers|new (?:people|folks|ones))|those who"
            r" don['’]?t know me|everyone new|anyone new)"
            r"|round of (?:names|intro\w*)|introductions?|intros?)\s*[:,–—-]+\s*(?=(?:i['’]?m|i am|my name)\b)",
            "Hi, ",
        ),
        # a greeting by another name
        (
            r"^\W*(?:(?:hi|hello|hey|so|ok|okay|well|first|let['’]?s start)\b[\s,!.]*)*(?:(?:let me|allow me to|may i|i['’]d like to"
            r"|i want to"
            r"|i should|i wanted to|time to) introduce myself|(?:a )?(?:quick|short|brief) intro(?:duction)?|nice to meet (?:you"
            r"|everyone|you all)"
            r"|pleased to meet (?:you|everyone|you all)|new (?:here|user|member))\s*[.:!,;—–-]+\s*(?=(?:i['’]?m|i am|my name|this is"
            r"|it['’]?s)\b)",
            "Hi, ",
        ),
        (rf"^\W*(?:so|oh|ok|okay|well|um|and|right)[\s,]+(?={GREETS}\b[\s,!.]*(?:i['’]?m|i am|it['’]?s|this is)\b)", ""),
        # "hey, it's Tamsin", "this is Anselm again", "good morning, Yevgenia speaking"
        (
            rf"^\W*{GREETS}[\s,!.]+(?:it['’]?s|it is) {NAME}(?: (?:here|again|speaking|from [^.!?\n]{{2,40}}))?(?=\s*(?:[.,!—–-]|$))",
            r"Hi, I'm \g<name>",
        ),
        (rf"^\W*(?P<greet>{GREETS}[\s,!.]+)?this is {NAME} (?:again|speaking|here)\b", r"Hi, I'm \g<name>"),
        (rf"^\W*{GREETS}[\s,!.]+{NAME} speaking\b", r"Hi, I'm \g<name>"),
        (
            rf"^\W*{GREETS}[\s,!.]+(?:(?:i['’]?m |i am )?new (?:here|to this)|first time here|just signed up)[\s,!.]+"
            r"(?=(?:i['’]?m|i am) )",
            "Hi, ",
        ),
        (
            rf"\b(?:i['’]?m|i am) (?:her|his|their) (?:\w+ )?{any_of(RELATIVES)},? {NAME}(?=\s*[.,!]|\s*$|\s+(?:and|from)\b)",
            r"my name is \g<name>",
        ),
        (r"\bwhat(?:['’]s| is) your name\?\s+mine(?:['’]s| is) (?=(?-i:[A-ZÀ-Þ]))", "My name is "),
        (rf"^\W*(?:{GREETS}[\s,!.]+)?(?:it['’]?s|it is) me,? {NAME}(?=\s*(?:[.,!—–-]|$))", r"Hi, I'm \g<name>"),
        # a name to be used
        (rf"^\W*(?:{GREETS}[\s,!.]+)you (?:can|may) (?:just )?use {NAME}(?=\s*[.!]|\s*$)", r"Call me \g<name>"),
        (rf"^\W*(?:just|simply|plain) {NAME} (?:is fine|will do|works|is enough|is ok|is okay|is good|please)\b", r"Call me \g<name>"),
        (
            r"\b(?:please |you can |you may |just |feel free to )*(?:address me as|refer to me as|know me as"
            r"|call me by my (?:nick)?name,?|use the name) (?!your|his|her|the)"
            r"(?=(?:(?:dr|prof|mr|mrs|ms)\.? )?(?-i:[A-ZÀ-Þ]))",
            "call me ",
        ),
        (r"\b(?:may|might|probably|can) know me as\b", "call me"),
        (
            r"(?:^|(?<=[.!?,;:—–-]\s)|\b(?:and|but|because|since|so|though)\s)(?:(?:everyone|everybody|people|folks|friends"
            r"|colleagues|the guys|they all|all|someone|half the \w+)"
            r" (?:at|in|from|on) [\w ]{2,30}?|(?:(?:all|most|some|half) (?:of )?)?(?:the|my|our) (?!name\b|(?:\w+"
            r" )?(?:friends|family|colleagues|mates|team) (?:\w+ )?(?:calls?|knows?)\b)(?:(?!(?:but|and|or|is|are|was|so|i"
            r"|who|that|when|if|to)\b)[\w'’-]+ ?){1,6}?)"
            r" (?:(?:just|always|all|still|only|usually|even|like to|likes to) )*(?:calls?|knows?|nicknamed|nicknames"
            r"|dubbed) me (?:as )?['\"‘“]?(?=(?-i:[A-ZÀ-Þ]))",
            "my nickname is ",
        ),
        (
            r"\b(?P<before>calls? me\b[^.!?\n]{2,60}?)\bso (?P<name>(?-i:[A-ZÀ-Þ])[\w'’-]+) it is(?=\s*(?:[.!,]|$))",
            r"\g<before>. Call me \g<name>",
        ),
        (r"\b(?:just )?ask for (?P<name>(?-i:[A-ZÀ-Þ])[a-zà-ÿ'’-]+)(?=\s*(?:[.!]|$))(?<!Support)(?<!Help)", r"call me \g<name>"),
        (
            r"\b(?:nobody|no one|only my \w+|only the [\w ]{2,20}) (?:ever )?calls? me"
            r" (?-i:[A-ZÀ-Þ])[\w'’-]+[^.!?\n]{0,40}[.!,]\s*(?:it['’]s |i['’]m |just |always |make it"
            r" )?(?P<name>(?-i:[A-ZÀ-Þ])[\w'’-]+)(?:,? please| to everyone| to you)?(?=\s*(?:[.!]|$))",
            r"Call me \g<name>",
        ),
        (
            r"\bmy name(?: is)? (?:written|spelled|spelt|write|writes|spell|spells) with [^,.!?\n]{1,20},"
            r" (?=(?-i:[A-ZÀ-Þ])[a-zà-ÿ]+)",
            "my name is ",
        ),
        (rf"^\W*new (?:here|joiner|starter|face)[\s,.!:—–-]+{NAME}(?=\s*(?:[.,!]|$))", r"Hi, I'm \g<name>"),
        (r"^(?P<lead>\W*(?:(?:and|so|oh|please|hi|hello)\b[\s,!.]*)*)do (?:please |just )?(?=call me )", r"\g<lead>"),
        (
            r"\b(?:but |and )?(?:irl|in real life|off ?line|outside the game|in person|to (?:my )?friends|at home|for"
            r" short),? (?:it['’]?s|it is|i['’]?m|i am|my name(?:['’]?s| is)|call me)"
            r" (?:just |actually )?(?=(?-i:[A-ZÀ-Þ]))",
            ". Call me ",
        ),
        (
            rf"\b(?:i['’]?m|i am|it['’]?s) {NAME} to (?:everyone|everybody|my friends|most people|friends|you|the team"
            r"|all)\b",
            r"call me \g<name>",
        ),
        (
            rf"^\W*(?:it['’]?s|i['’]?m|my name(?:['’]?s| is)) (?-i:[A-ZÀ-Þ])[\w'’-]+,? (?:but|or|though) {NAME} (?:is"
            r" (?:fine|ok|okay|good|easier|enough)|will do|works|does)\b",
            r"Call me \g<name>",
        ),
        (
            r"\bi(?:['’]ve| have)? (?:just |legally |officially |recently |finally )*(?:changed|switched) my (?:first"
            r" )?name (?:from (?-i:[A-ZÀ-Þ])[\w'’-]+ )?to "
            r"(?=(?-i:[A-ZÀ-Þ]))",
            "my name is ",
        ),
        (
            rf"^\W*(?:(?:quick|short|brief|my|a) )*intro(?:duction)?\s*[:,—–-]\s*{NAME}, (?P<job>(?:an? )?[a-z][\w"
            rf" -]{{2,40}})(?=\s*(?:[,.!;]|$))",
            lambda found: f"Hi, I'm {found['name']}, {found['job']}" if is_occupation(ARTICLE.sub("", found["job"])) else found.group(),
        ),
        (
            r"\b(?:just |please )*call me (?P<name>(?-i:[A-ZÀ-Þ])[\w'’-]+),? (?:ok|okay|alright|will you|would you)\s*\?",
            r"Call me \g<name>.",
        ),
        (
            r"\bi(?:['’]d| would)? (?:prefer|rather|like) (?:to be|being|be) called (?P<name>(?-i:[A-ZÀ-Þ])[\w'’-]+)"
            r"(?: (?:than|instead of|not)"
            r" (?-i:[A-ZÀ-Þ])[\w'’-]+)?(?=\s*(?:[.,!]|$))",
            r"call me \g<name>",
        ),
        (r"\b(?:please )?use my (?:nickname|first name|short name),? (?=(?-i:[A-ZÀ-Þ]))", "call me "),
        (
            r"\b(?:i['’]d (?:like|love|prefer)|i would (?:like|love|prefer)|i want|i['’]d like it if) you (?:to call"
            r"|called) me (?=(?-i:[A-ZÀ-Þ]))"
            r"|\b(?:could|can|would|will) you (?:please |just |maybe )?call me (?=(?-i:[A-ZÀ-Þ])[\w'’-]+(?: please| instead"
            r"| from now on)?\s*[.?!]*$)",
            "Call me ",
        ),
        (r"\b(?:i['’]m|i am) (?:better |mostly |usually |generally |also )?known (?:to \w+ )?as (?=(?-i:[A-ZÀ-Þ]))", "I go by "),
        (
            r"\b(?:people|folks|friends|everyone|everybody|they|we|my friends|my family)(?: usually| always| often)? (?:shorten"
            r"|abbreviate) (?:it|my name) to "
            r"(?=(?-i:[A-ZÀ-Þ]))",
            "everyone calls me ",
        ),
        (r"\bthe name my (?:mum|mom|mother|dad|father|parents) gave me is (?=(?-i:[A-ZÀ-Þ]))", "my name is "),
        (
            r"\b(?:the )?(?:people|everyone|everybody|friends|colleagues|they|all|the guys)(?: here| at work)?"
            r" (?:are|is) (?:all |always )?calling me (?=(?-i:[A-ZÀ-Þ]))",
            "everyone calls me ",
        ),
        (r"\b(?:please |just |you can |but )*keep (?:using|calling me|saying|it at) (?=(?-i:[A-ZÀ-Þ]))", "call me "),
        (
            r"(?<=, )(?:so |but )?(?:please |just )+(?:say|use|write|put) (?=(?-i:[A-ZÀ-Þ])[\w'’-]+\s*(?:[.!]"
            r"|$))(?!(?-i:The|This|That|It|If|A)\b)",
            ", call me ",
        ),
        (
            r"\b(?:(?:my|the) )?name(?:['’]?s| is) (?-i:[A-ZÀ-Þ])[\w'’-]+,? (?:but|though|or) (?:just )?(?P<name>"
            r"(?-i:[A-ZÀ-Þ])[\w'’-]+) (?:is (?:fine|ok|okay|good|what|enough)|works|will do|for short)\b",
            r"Call me \g<name>",
        ),
        (r"\b(?P<name>(?-i:[A-ZÀ-Þ])[\w'’-]+) for short\b", r"call me \g<name>"),
        (r"\bi go by my (?:middle|second|maiden|first|last|nick|stage) ?name,? (?=(?-i:[A-ZÀ-Þ]))", "I go by "),
        (r"\bmy (?:short name|preferred name) is (?=(?-i:[A-ZÀ-Þ]))", "I go by "),
        (rf"^\W*this is {NAME}, (?=i\b)", r"Hi, I'm \g<name>, "),
        (
            r"^\W*(?:officially|on paper|legally)[, ]+(?:i['’]m|i am|my name is|it['’]s) (?-i:[A-ZÀ-Þ])[\w'’-]+,? (?:but"
            r"|though) (?:everyone|everybody|people|friends"
            r"|my friends|they|most people) (?:says?|uses?|calls? me) (?=(?-i:[A-ZÀ-Þ]))",
            "Everyone calls me ",
        ),
        (
            r"^\W*(?:my|the|all my) (?:[a-z]+ )?(?:passport|id|id card|certificate|papers|documents|badge|licen[cs]e|contract"
            r"|diploma|payslip|email"
            r"|email address|name tag|paperwork|visa|ticket|account|profile|card) (?:says?|reads?|states?|shows?|has|have|lists?|calls? me)"
            r" (?-i:[A-ZÀ-Þ])[\w'’-]+(?: (?-i:[A-ZÀ-Þ])[\w'’-]+)*\s*[,;.—–-]*\s*(?:(?:but|though|yet|however|and|still|everyone"
            r"|people|knows?|that"
            r"|in daily life|actually|really|usually|normally|mostly)\b[\s,]*)*"
            r"(?:(?:please|just|i|usually|normally|mostly|only|actually|really|always) )*(?:use|say|go by|call me) (?=(?-i:[A-ZÀ-Þ]))",
            "Call me ",
        ),
        # "I'm Jolanta, the one who emailed yesterday"
        (
            rf"^\W*(?:{GREETS}[\s,!.]+)?(?:i['’]?m|i am|my name(?:['’]?s| is)|name['’]?s) {NAME},? (?:the (?:one"
            rf"|woman|man|guy|person|girl|lady|chap"
            r"|student|customer|client|member|new one)|your (?:neighbou?r|new neighbou?r|colleague|tenant)) "
            r"(?:(?:who|that)(?:['’]s| had| has| just| also)? (?:\w+ed|wrote|sent|spoke|sat|met|came|lost|left|bought"
            r"|got|rang|made|took|brought|ran"
            r"|found|told|paid)\b|with (?:the|a|an|two|your)\b|from (?:the|your|across|upstairs|next|last)\b)[^.,;!?\n]{0,60}",
            r"Hi, I'm \g<name>",
        ),
        (
            r"\b(i go by (?-i:[A-ZÀ-Þ])[\w'’-]+) (?:though|instead|really|mostly|usually|everywhere|in daily life"
            r"|in everyday life|at work)\b",
            r"\1",
        ),
        (r"\bi (?:also |only )?answer to (?=(?-i:[A-ZÀ-Þ]))", "I go by "),
        (r"\bi(?:['’]ve| have) (?:always |only )?(?:gone|been going) by (?=(?-i:[A-ZÀ-Þ]))", "I go by "),
        (
            r"\b(?:but|though|and)? ?(?P<name>(?-i:[A-ZÀ-Þ])[\w'’-]+) is what (?:everyone|everybody|people|friends|my friends|they"
            r"|most people) (?:calls?|uses?|call me|use)(?: me)?\b",
            r", call me \g<name>",
        ),
    ),
    re.IGNORECASE,
    rewrite=_first_replaced,
)
_CONTINUES: Final = re.compile(
    rf"^\W*(?:i['’]?m|i am) {NAME}(?=(?:,? and (?:i|i['’]?m|my|we)\b|, \d\d\b|, i (?:live|work|am)\b"
    r"|,? (?:nice|pleased|good|great|lovely|happy|glad) to (?:meet|be|join)\b))",
    re.IGNORECASE,
)
"""An introduction that goes on: "I'm Perpetua and I need help"."""
_LONGEST: Final = 2000
"""Characters of a message with an introduction."""


def with_introductions(text: str) -> str:
    """A message with its introduction in the forms of the grammar. Only facts are read from it.

    Args:
        text: A message, or the part of it in the speaker's own voice.
    """
    if len(text) > _LONGEST:
        return text
    text = _REWRITES.apply(text)
    text = with_lists_as_statements(text)
    found = _CONTINUES.match(text)
    return f"Hi, {text}" if found is not None and is_name(found["name"]) else text
