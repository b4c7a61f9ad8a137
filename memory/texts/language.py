"""Whether a text is English, by its most frequent words: extraction rules and the confidence of a recall are made for English."""

import re
from itertools import pairwise
from typing import Final

from memory.texts.scripts import LETTERS, is_latin
from memory.texts.words import TOPICLESS_WORDS

_WORD: Final = re.compile(rf"{LETTERS}(?:['’]{LETTERS})?")
_MOST_WORDS: Final = 200
"""Words at the beginning of a text that are looked at."""
_SHARED_WORDS: Final = """
a all am an as at be by can come do era had has he her him his i in is it kind made man me men mine more most must no of off on one or
our out over put see so then to under up us use van war was we
"""
"""English words that are words of other languages, too."""
_EVERYDAY_WORDS: Final = """
sorry oops wait meant correction actually rather lives likes loves hates works lived moves has visits visited called love like enjoy hate
prefer adore dislike loathe detest avoid im ive dont cant fyi btw live living work worked working moved relocated shifted named allergic
eat drink
born married speak speaks study studied teach teaches play plays cook own owns drive call caller started divorced pregnant bought keep
kosher halal vegan vegetarian allergy job wife husband follow despise diet dog sister brother mother father daughter kids house street
city town nurse teacher driver avoid smoke collect watch listen paint write name years since because about very adore fond hobby allergies
tea coffee someone drive resident settled house flat nothing never always fan person thing reside cat terrify beats cannot couldn wasn
wear wears wearing
reminder name's buy years old favourite favorite thanks thank hello please today yesterday tomorrow going got just really first second hi
hey yes my the and wow great yeah too visit need died quit fired
retired broke lost longer
"""
_FOREIGN_WORDS: Final = """
aber abito adalah aku ale alle anche asun att au auch auf aux avec az ben benim bin bir bor bu bydlím c'est che com como con da dan
dans das dat de dei del della dem den dengan der des det değil di dos du e een egy ei ein eine einen el em en encanta er es est estoy
et ett että eu evim för für gli gosto gusta habe har heb het ho hogy ich ik ikke il ile im inte ist için j'ai j'habite ja jag jak je
jeg jest jestem jsem já kommer la lakom las lavoro le les lo los lubię ma maar mam mas med mein meine mes met meu mi mia mieszkam mijn
min minha minun minä mio mit mitt moja mon moro mutta muy mám mój můj na nací nel nella nem není nicht nie niet non nous não o och od
og olen ook op os para pas per pero piace por pour pracuję på que qui saya se sich sie się som sono sou soy su suis sur tak tengo tenho
tidak tinggal trabajo trabalho tu um uma un una unas und une uno unos untuk v vagyok ve vivo von voor vous w wij wir wohne woon y yang
yaşıyorum za zijn zu är çok è én és że že
"""
"""Frequent words of Spanish, Italian, French, German, Portuguese, Dutch, Polish, Swedish, Norwegian, Turkish, Czech, Finnish, Hungarian and
Malay."""
_ASKING_WORDS: Final = """
wo wer wen wem wann warum welche welchem welchen welcher welches wieviel wohnt heißt où qui quand comment quel
quelle quels quelles pourquoi combien
habite dónde donde cuándo quién cómo qué cuál cuánto vive dove quando chi quale quanto perché abita onde quem qual quanto mora hvor hvem
hva hvornår når hvordan bor vem vad när hur var gdzie kto kiedy jak co dlaczego mieszka kde kdy kdo proč bydlí nerede kim nasıl hangi
yaşıyor missä kuka milloin mikä miksi asuu hol mikor milyen lakik waar wie wanneer welke hoeveel woont dimana siapa kapan apa berapa
unde cine când gde kto şi jetzt trinkt isst arbeitet cosa beve lavora boit mange travaille bebe trabaja drinkt eet werkt spiser drikker
dricker äter pije pracuje
"""
"""Words of questions in these languages, and in Romanian; none is an English word."""
_SHARED: Final = frozenset(_SHARED_WORDS.split())
_CONTRACTIONS: Final = frozenset({"i'm", "i've", "i'd", "i'll", "don't", "can't", "isn't", "it's"})
_ENGLISH: Final = frozenset({*TOPICLESS_WORDS, *_EVERYDAY_WORDS.split(), *_CONTRACTIONS}) - _SHARED
_FOREIGN: Final = frozenset(_FOREIGN_WORDS.split()) - _ENGLISH - _SHARED
_PAST_WORDS: Final = """
ran swam rode ate drank slept went had did made took saw met bought sold drove flew wrote read spoke told found lost won left began felt
kept brought caught taught paid got gave came became broke woke wore sang sat stood thought built sent spent held heard knew grew fell hit
"""
_VERB_WORDS: Final = """
act advise audit bake box breed brew build carve cherish clean climb coach code compose consult craft crave cycle dance deliver design dig
direct do draw edit farm fear fish fix fly fry get go grow guard guide help hike host hunt interpret keep knit know lead load make manage
mentor need nurse operate own pack paint perform pilot pour produce program publish raise relish rent repair represent restore run sail see
sell serve sew share sing ski sort stay stock supervise surf swim take tend think trade train translate treat use weld
"""
_VERBS: Final = frozenset(_VERB_WORDS.split())
"""Verbs that are English after "I" and "we"; alone, some are words of other languages."""
_LOANS: Final = frozenset(("fiancé", "fiancée", "café", "cafés", "crèche", "décor", "résumé", "entrée", "purée", "sautéed", "jalapeño"))
_PAST: Final = frozenset(_PAST_WORDS.split())
"""Past forms of irregular verbs. After "I" they are English; alone, some are words of other languages."""
_NOT_ENGLISH: Final = (_FOREIGN | frozenset(_ASKING_WORDS.split())) - _ENGLISH - _SHARED
_PAIRS: Final = frozenset({("i", "am"), ("i", "was"), ("i", "have"), ("i", "do"), ("am", "i"), ("call", "me"), ("it", "is")})
_MOSTLY_ENGLISH: Final = frozenset(
    ("our", "is", "was", "his", "him", "her", "we", "he", "has", "had", "by", "of", "all", "more", "most", "must", "at", "up")
)
_LEAST_AMBIGUOUS: Final = 2
"""Number of such words that make a short text English, without evidence against it."""
_LEAST_OF_QUESTION: Final = 3
"""An English question of so many words has an English function word."""
_LEAST_SHARE: Final = 0.06
_SHORTEST_PAST: Final = 4


def is_foreign(text: str) -> bool:
    """Whether a text is certainly not English: most of its letters are not Latin, or it has more frequent words of other languages.

    Args:
        text: A question or a statement. Names and code are in no language, so neither English nor foreign.
    """
    if not is_latin(text):
        return True
    words = _words(text)
    if len(words) >= _LEAST_OF_QUESTION and text.rstrip().endswith("?") and not any(word in _ENGLISH or word in _SHARED for word in words):
        return True
    # English questions name places such as San Pedro de la Luna.
    return sum(word in _NOT_ENGLISH for word in words) > 2 * sum(word in _ENGLISH for word in words)


def is_english(text: str) -> bool:
    """Whether a text is English: it has frequent English words, and more of them than of other European languages.

    Args:
        text: A message, or the prose in it. One without frequent words, such as a name or code, is not English.
    """
    if not is_latin(text):
        return False
    words = _words(text)
    english = sum(map(_ENGLISH.__contains__, words)) + sum(pair in _PAIRS or _is_statement(*pair) for pair in pairwise(words))
    foreign = sum(map(_FOREIGN.__contains__, words))
    ambiguous = sum(map(_MOSTLY_ENGLISH.__contains__, words))
    accented = 0 if text.isascii() else sum(map(_is_accented, _written_words(text)))
    if not english:
        return ambiguous >= _LEAST_AMBIGUOUS and not foreign and not accented
    return english >= _LEAST_SHARE * len(words) and 2 * english > 2 * foreign + accented


def _is_accented(word: str) -> bool:
    return not word.isascii() and not word[0].isupper() and word not in _LOANS


def _is_statement(subject: str, verb: str) -> bool:
    """Whether two words are a subject and a verb of English."""
    return subject in ("i", "we") and (verb in _VERBS or verb in _PAST or (len(verb) > _SHORTEST_PAST and verb.endswith("ed")))


def _words(text: str) -> list[str]:
    return [word.lower().replace("’", "'") for word in _written_words(text)]


def _written_words(text: str) -> list[str]:
    return _WORD.findall(text[: _MOST_WORDS * 12])[:_MOST_WORDS]
