"""The first person made the third: a memory has to name whom it is about, or no question about them finds it."""

import re
from typing import Final

_VERB_WORDS: Final = """
love like enjoy hate prefer want need hope think know feel live work play study teach run walk read write cook bake paint draw sing
dance travel own use make take get keep call believe remember plan try miss wish volunteer drive eat drink sleep wake speak collect
swim hike bike ride practice help spend wear watch listen start stop go do look select limit send upload wait search check fix ask
prepare finish agree put pay order find add open close show bring leave move sell lead manage care worry expect understand recommend
suggest support join count approve
"""
_VERBS: Final = tuple(_VERB_WORDS.split())
_IRREGULAR: Final = {"teach": "teaches", "watch": "watches", "miss": "misses", "wish": "wishes", "go": "goes", "do": "does", "fix": "fixes"}
_THIRD_FORM: Final = {
    verb: _IRREGULAR.get(verb, f"{verb[:-1]}ies" if verb in ("study", "try", "carry", "worry") else f"{verb}s") for verb in _VERBS
}
_AUXILIARY: Final = r"(?P<auxiliary>\b(?i:shall|will|can|could|should|would|do|did|does|may|might|must)\s+)?"
_ADVERB: Final = r"(?P<adverb>(?:really|also|always|usually|often|still|just|never|sometimes|currently|actually|even|only|especially) )?"

_FIRST_PERSON: Final[tuple[tuple[re.Pattern[str], str], ...]] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\b[Ii](?:['’]m| am)\b", "{name} is"),
        (r"\b[Aa]m I\b", "is {name}"),
        (r"\b[Ii](?:['’]ve| have)\b", "{name} has"),
        (r"\b[Ii]['’]d\b", "{name} would"),
        (r"\b[Ii]['’]ll\b", "{name} will"),
        (r"\b[Ii] don['’]t\b", "{name} doesn't"),
        (r"\b[Ii] do not\b", "{name} does not"),
        (r"\b[Ii] haven['’]t\b", "{name} hasn't"),
    )
)
_PRESENT: Final = re.compile(rf"{_AUXILIARY}\b[Ii] {_ADVERB}(?P<verb>{'|'.join(_VERBS)})\b")
_POSSESSIVE: Final = re.compile(r"\b[Mm]y\b")
_OBJECT: Final = re.compile(r"\bI\b(?!['’])|(?<![\w'’])i(?![\w'’.])|\b(?:[Mm]e|[Mm]yself)\b")
_MINE: Final = re.compile(r"\b[Mm]ine\b")

_SECOND_PERSON: Final[tuple[tuple[re.Pattern[str], str], ...]] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\b[Aa]re you\b", "is {name}"),
        (r"\b[Hh]ave you\b", "has {name}"),
        (r"\b[Dd]o you\b", "does {name}"),
        (r"\b[Ww]ere you\b", "was {name}"),
        (r"\b[Yy]ou(?:['’]re| are)\b", "{name} is"),
        (r"\b[Yy]ou(?:['’]ve| have)\b", "{name} has"),
        (r"\b[Yy]ou['’]ll\b", "{name} will"),
        (r"\b[Yy]ou['’]d\b", "{name} would"),
        (r"\b[Yy]our(?:s)?\b", "{name}'s"),
        (r"\b[Yy]ou(?:rself)?\b", "{name}"),
    )
)


def first_to_third_person(text: str, name: str) -> str:
    """Puts a speaker's name where they speak of themselves: ``I'm moving, my dog too`` to ``Ann is moving, Ann's dog too``."""
    for pattern, replacement in _FIRST_PERSON:
        text = pattern.sub(_literal(replacement.format(name=name)), text)
    text = _PRESENT.sub(lambda match: _present(match, name), text)
    text = _POSSESSIVE.sub(_literal(f"{name}'s"), text)
    text = _MINE.sub(_literal(f"{name}'s"), text)
    return _OBJECT.sub(_literal(name), text)


def _present(match: re.Match[str], name: str) -> str:
    """The verb in its third form; behind an auxiliary ("shall I start") it stays as it is."""
    verb = match["verb"] if match["auxiliary"] else _THIRD_FORM[match["verb"]]
    return f"{match['auxiliary'] or ''}{name} {match['adverb'] or ''}{verb}"


def second_to_third_person(text: str, name: str) -> str:
    """Puts a listener's name where they are spoken to: ``have you moved?`` to ``has Ann moved?``."""
    for pattern, replacement in _SECOND_PERSON:
        text = pattern.sub(_literal(replacement.format(name=name)), text)
    return text


def _literal(text: str) -> str:
    return text.replace("\\", r"\\")
