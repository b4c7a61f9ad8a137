"""Placeholders of chat exports: what WhatsApp, Telegram, Slack, Signal and others write for media and deleted messages. Pure.

A text counts as one only if it is nothing else, and a bare word such as "photo" only in brackets, because it may be an answer.
"""

import re
from typing import Final

_MEDIA: Final = (
    r"(?:image|photo|picture|video(?: note| message)?|audio(?: file)?|voice (?:message|note)|gif|sticker|document|file|media"
    r"|contact(?: card)?|animation|location|live location|poll)"
)
_OMITTED: Final = (
    rf"{_MEDIA}s? (?:omitted|not included|unavailable|expired)",
    r"(?:medien|mediendatei|bild|video|audio|sticker|gif|dokument|kontaktkarte) (?:ausgeschlossen|weggelassen|nicht enthalten)",
    r"(?:archivo|multimedia|archivo multimedia|imagen|video|audio|sticker|gif|documento) omitid[oa]s?",
    r"(?:médias?|fichier(?: média)?|image|vidéo|audio|sticker|gif|document) (?:omise?s?|absente?s?)",
    r"(?:mídia|arquivo de mídia|imagem|vídeo|áudio|figurinha|gif|documento) (?:ocult[oa]s?|omitid[oa]s?|ocultad[oa]s?)",
    r"(?:immagine|video|audio|sticker|gif|documento|media) omess[oaie]",
    r"(?:afbeelding|video|audio|sticker|gif|document|media) weggelaten",
)
_DELETED: Final = (
    r"(?:this|the) (?:message|file) (?:was|has been) (?:deleted|removed)(?: by (?:admin|an admin|the sender).{0,60})?",
    r"you deleted this message|message deleted|deleted message|file deleted|a file was deleted",
    r"diese nachricht wurde gelöscht|du hast diese nachricht gelöscht",
    r"se eliminó este mensaje|eliminaste este mensaje|este mensaje fue eliminado|mensagem apagada|(?:essa|esta) mensagem foi apagada",
    r"ce message a été supprimé|vous avez supprimé ce message|questo messaggio è stato eliminato|hai eliminato questo messaggio",
    r"dit bericht is verwijderd|je hebt dit bericht verwijderd",
)
_CALLS: Final = (
    r"(?:silenced |missed |declined |cancell?ed |unanswered |no answer )(?:group )?(?:voice |video |audio |phone )?call(?: at \d.{0,12})?",
    r"(?:voice|video|audio) call[,.] ?(?:no answer|missed|declined|tap to call back|\d{1,3} ?(?:s|sec|min|h)\w*)(?: at \d.{0,12})?",
    r"verpasste[rs]? (?:gruppen|sprach|video)?anruf|llamada (?:de (?:voz|vídeo|video|grupo) )?perdida|appel (?:vocal |vidéo )?manqué",
    r"chamada (?:de (?:voz|vídeo) )?perdida|chiamata (?:vocale |video )?persa|gemiste (?:spraak|video)?oproep",
)
_SYSTEM: Final = (
    r"messages and calls are end-to-end encrypted\..{0,200}",
    r"waiting for this message(?:\. this may take a while)?",
    r"(?:you received a )?view once (?:message|photo|video|voice message)(?: omitted)?.{0,60}",
    r"this message (?:contains interactive elements|can't be displayed(?: here)?)|this content can't be displayed",
    r"<@[UW]\w{5,20}(?:\|[^>]{0,80})?> has (?:joined|left) the (?:channel|group)",
    r"(?:\S{1,150} )?\(file attached\)",
    r"\(?(?:file|photo|video|voice message|sticker|animation) not included\. change data exporting settings.{0,40}",
)
_WHOLE: Final = re.compile(rf"(?:{'|'.join((*_OMITTED, *_DELETED, *_CALLS, *_SYSTEM))})[.!)]?", re.IGNORECASE)
_IN_BRACKETS: Final = re.compile(rf"(?:{_MEDIA}s?|attached: .{{1,200}}|deleted|removed|(?:voice|video) call)", re.IGNORECASE)
_BRACKETS: Final = re.compile(r"<(?P<angle>[^<>]+)>|\[(?P<square>[^\[\]]+)\]|\((?P<round>[^()]+)\)|\*(?P<star>[^*]+)\*|_(?P<line>[^_]+)_")
_LONGEST: Final = 320
_INVISIBLE: Final = str.maketrans("", "", "\u200e\u200f\u202a\u202b\u202c\ufeff")


def is_export_placeholder(text: str) -> bool:
    """Whether a text is nothing but a placeholder that a chat export wrote."""
    if len(text) > _LONGEST:
        return False
    bare = " ".join(text.translate(_INVISIBLE).split())
    if _WHOLE.fullmatch(bare):
        return True
    bracketed = _BRACKETS.fullmatch(bare)
    if bracketed is None:
        return False
    inner = next(filter(None, bracketed.groups())).strip()
    return bool(_WHOLE.fullmatch(inner) or (bare[0] in "<[(" and _IN_BRACKETS.fullmatch(inner)))
