"""Numbers of persons in a text: by their written forms, their check digits, and the words next to them. Pure.

Check digits alone are not enough: one of eleven order numbers with nine digits is a valid number of a Dutch citizen, and each
``240506-1030`` is a valid Danish one. So a number counts only in a form in which people write it. A name of another number before it
("order", "ISBN"), or the form of a time or of a book's number, counts more, unless a name of a person's number is next to it.
"""

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any, Final

_LEAST_DIGITS: Final = 5
_FORMS: Final = {
    "stdnum.be.nn": r"\d{2}[. ]?\d{2}[. ]?\d{2}[- .]?\d{3}[. ]?\d{2}",
    "stdnum.br.cpf": r"\d{3}[. ]?\d{3}[. ]?\d{3}[- ]?\d{2}",
    "stdnum.ch.ssn": r"756[. ]?\d{4}[. ]?\d{4}[. ]?\d{2}",
    "stdnum.de.idnr": r"\d{2}[ ]?\d{3}[ ]?\d{3}[ ]?\d{3}",
    "stdnum.dk.cpr": r"\d{6}[- ]?\d{4}",
    "stdnum.es.dni": r"\d{2}\.?\d{3}\.?\d{3}[- ]?[A-Z]",
    "stdnum.es.nie": r"[XYZ][- ]?\d{7}[- ]?[A-Z]",
    "stdnum.fi.hetu": r"\d{6}[-+A-FU-Y]\d{3}[0-9A-Z]",
    "stdnum.fr.nir": r"[12] ?\d{2} ?\d{2} ?\d[\dAB] ?\d{3} ?\d{3}(?:[ /-]?\d{2})",
    "stdnum.it.codicefiscale": r"[A-Z]{3} ?[A-Z]{3} ?[0-9A-Z]{5} ?[A-Z]\d[0-9A-Z]{2}[A-Z]",
    "stdnum.nl.bsn": r"(?:\d[ .]?){8}\d",
    "stdnum.no.fodselsnummer": r"\d{6}[- ]?\d{5}",
    "stdnum.pl.pesel": r"\d{11}",
    "stdnum.se.personnummer": r"(?:\d{2})?\d{6}[-+ ]?\d{4}",
    "stdnum.us.ssn": r"\d{3}-\d{2}-\d{4}",
}
"""The numbers, most of them with check digits, and how people write them."""
_COMPILED: Final = {name: re.compile(form, re.IGNORECASE) for name, form in _FORMS.items()}
_ONLY_NAMED: Final = frozenset({"stdnum.nl.bsn"})
"""Numbers that have neither a date nor their own form: they count only next to the name of a person's number."""
_OF_A_PERSON: Final = re.compile(
    r"\b(?:bsn|burgerservicenummer|sofi\w*|ssn|social security|(?:my|national|personal|citizen|identity|tax(?:payer)?)[ -](?:\w+ )?"
    r"(?:id|no|nr|number|identification|identity)\b|national insurance|person(?:al)?n(?:umme)?r\w*|personal(?:ausweis\w*| code)"
    r"|f[øo]dselsn\w*|f[øo]dselsdato|cpr|cpf|dni|nie|nif|pesel|hetu|henkilötunnus|nir|s[ée]curit[ée] sociale|codice fiscale"
    r"|steuer\w*|idnr|ahv\w*|avs|rijksregister\w*|registre national|identit(?:y|ät|eit|é|à)\w*|rodné číslo|passport)(?!\w)",
    re.IGNORECASE,
)
"""The name of a person's number."""
_THINGS: Final = (
    r"(?:orders?|invoices?|isbn|issn|ean|gtin|upc|asin|sku|articles?|items?|products?|parts?|models?|serial|tracking|parcels?|shipments?"
    r"|packages?|tickets?|issues?|cases?|bookings?|reservations?|confirmations?|refs?|references?|transactions?|receipts?|quotes?"
    r"|purchases?|customers?|members?|membership|flights?|versions?|builds?|commits?|revisions?|runs?|jobs?|requests?|traces?|sessions?"
    r"|time|timestamps?|ts|epoch|unix|utc|created|updated|logs?|files?|backups?|snapshots?|offsets?|rows?|lines?|batch(?:es)?|lots?"
    r"|meters?|doi|pmid|books?|account|konto|zip|bestell\w*|auftrag\w*|rechnung\w*|artikel\w*|sendung\w*|kunden\w*|vorgang\w*"
    r"|aktenzeichen|ticketnummer|buchung\w*|zeitstempel|commande|facture|colis|livre|dossier|pedido|factura|libro|ordine|fattura"
    r"|bestelling\w*|factuur\w*|zamówieni\w*|faktur\w*|ordre\w*|bestilling\w*|encomenda|fatura|tilaus\w*|lasku\w*)"
)
_BETWEEN: Final = (
    r"(?:[\s:=#(\[\"'“„*_/-]|\d,?|(?:no|nr)\.|\b(?:no|nr|num|number|numbers|nummer|num[ée]ro|número|n[°º]|ids?|codes?|is|was|are|and|or|und"
    r"|et|y)\b)*"
)
"""Text between the name of a number and the number: other numbers of the same list, too."""
_OF_A_THING: Final = re.compile(rf"(?:\b{_THINGS}{_BETWEEN}|[=/#_])$", re.IGNORECASE)
"""Ends the text before a number with the name of another number."""
_LOOKED_BACK: Final = 40
_LOOKED_AHEAD: Final = 30
_TIMES: Final = {12: "%Y%m%d%H%M", 10: "%y%m%d%H%M"}
"""Forms of times by their number of digits."""
_EARLIEST_YEAR: Final = 2000
_EPOCH: Final = range(1_500_000_000, 1_900_000_000)
"""Seconds since 1970 in the years from 2017 to 2030."""
_SEPARATORS: Final = re.compile(r"[-+ ./]")
_ISBN: Final = re.compile(r"\d{9}[\dX]", re.IGNORECASE)


def is_national_id(text: str, start: int, end: int, *, library: Callable[[str], Any]) -> bool:
    """Whether a part of a text is the number of a person.

    Args:
        text: The text.
        start: Where the part begins.
        end: Where it ends.
        library: Imports a module of the package python-stdnum.
    """
    part = text[start:end]
    if sum(map(str.isdigit, part)) < _LEAST_DIGITS:
        return False
    valid = [name for name, form in _COMPILED.items() if form.fullmatch(part) is not None and library(name).is_valid(part)]
    if not valid:
        return False
    before = text[max(0, start - _LOOKED_BACK) : start]
    if _OF_A_PERSON.search(before) is not None or _OF_A_PERSON.search(text[end : end + _LOOKED_AHEAD]) is not None:
        return True
    is_of_thing = _OF_A_THING.search(before) is not None or _is_time(part) or _is_isbn(part)
    return not is_of_thing and any(name not in _ONLY_NAMED for name in valid)


def _is_time(part: str) -> bool:
    """Whether a number is a time: ``20240506-1030``, ``240506-1030``, or seconds since 1970."""
    digits = _SEPARATORS.sub("", part)
    if not digits.isdecimal():
        return False
    if len(digits) == 10 and digits == part and int(digits) in _EPOCH:
        return True
    try:
        return len(digits) in _TIMES and datetime.strptime(digits, _TIMES[len(digits)]).year >= _EARLIEST_YEAR
    except ValueError:
        return False


def _is_isbn(part: str) -> bool:
    """Whether a number is a book's with ten digits: its check digit is valid."""
    if _ISBN.fullmatch(part) is None:
        return False
    values = [10 if each in "xX" else int(each) for each in part]
    return sum(weight * value for weight, value in zip(range(10, 0, -1), values, strict=True)) % 11 == 0
