"""The forms of statements about who the writer is: name, home, occupation, age and the like."""

from typing import Final

from extraction.offline.grammar import value_patterns as values
from extraction.offline.grammar.acts import PRESENT, TRADE_ACTS
from extraction.offline.grammar.fact_grammar import DECLARED_PLACE, MOVED_PLACE, Field, Form, form
from extraction.offline.grammar.patterns import any_of
from extraction.offline.words import clauses, homes, people, work

_NAME_END: Final = r"(?=\s*(?:[.!,(—–-]|$|please|instead|from now|everyone|everybody|btw|by the way|i\b|im\b|and\b|but\b))"
_LOWER_NAME: Final = (
    rf"(?-i:(?!{any_of(people.LOWER_CASE_NO_NAMES)}\b)[a-z]{{2,15}}(?<!ing)(?<!ed)(?<!ful)(?<!ous)(?<!able)(?<!less)(?<!ish))"
)
_NO_NAME_AFTER_AM: Final = rf"(?!{any_of(people.NO_INTRODUCTIONS)}\b)"
_NAMES: Final = (
    form(Field.NAME, "<my> full|first|real|given|preferred? name is|'s|name's", values.NAME),
    form(Field.NAME, "my|our|the full|first|real? name's", values.NAME),
    form(Field.NAME, "name's", values.NAME),
    form(Field.NAME, "the name is", values.NAME),
    form(Field.NAME, "my name is spelled|spelt", values.NAME),
    form(Field.NAME, "my? name is|name's", _LOWER_NAME, _NAME_END),
    form(Field.NAME, "my? name's", _LOWER_NAME, _NAME_END),
    form(Field.NAME, "<I_am> called|named", values.NAME),
    form(Field.NAME, "<I> go by", values.NAME),
    form(Field.NAME, "<my> nickname is|'s", values.NAME, nickname=True),
    form(Field.NAME, "<people> just|always? call|calls me", values.NAME, by_others=True),
    form(Field.NAME, "call me", values.NAME, _NAME_END),
    form(Field.NAME, "call me", _LOWER_NAME, r"(?=\s*(?:[.!]|$|please\b|pls\b))"),
    form(Field.NAME, "<I_am>", rf"{_NO_NAME_AFTER_AM}{values.NAME}(?<!ing)", r"(?=\s*(?:[.,!]|$)|\s+(?:and|from)\b)", greeted=True),
    form(Field.NAME, "<I_am>", rf"{_NO_NAME_AFTER_AM}{values.NAME}(?<!ing)", r"(?=,?\s+(?:by the way|btw)\b)"),
    form(
        Field.NAME, "<I_am>", rf"(?-i:Mr|Mrs|Ms|Mx|Miss)[.{values.DOT}]?\s(?-i:[A-ZÀ-Þ])[\w'’-]+", r"(?=\s*(?:[.,!]|$)|\s+(?:and|from)\b)"
    ),
    form(Field.NAME, "they call me", values.NAME, by_others=True),
    form(Field.NAME, "<people> know|knows me as", values.NAME, by_others=True),
    form(Field.NAME, "", values.NAME, r"(?=(?: is my name\b|,? nice to meet you\b|,? pleased to meet you\b))"),
    form(Field.NAME, "this is", rf"{values.NAME}", r"(?=\s*(?:[.,!]|$)|\s+(?:and|from|here)\b)", greeted=True),
    form(Field.NAME, "", values.NAME, r"(?=\s+here\s*(?:[^\w\s]|$))", greeted=True),
)
_PLACE: Final = values.PLACE
_FOR_YEARS: Final = (
    r"(?=\s+(?:since \d{4}|(?:for|since) (?:(?:last|the last|the past|over|about|almost|nearly) )?(?:\w+ )?(?:years|decades)\b))"
)
_HOMES: Final = (
    form(Field.HOME, "<I> live|reside|dwell <where>? <in>", _PLACE, place=DECLARED_PLACE),
    form(Field.HOME, "<I> live|reside <where>? in <a> <settlement> called|named", _PLACE, place=DECLARED_PLACE),
    form(Field.HOME, "<I> live|reside <where>? in the <settlement> of", _PLACE, place=DECLARED_PLACE),
    form(Field.HOME, "<I> live|reside at|on <street>", values.PLACE_NAME, place=DECLARED_PLACE),
    form(Field.HOME, "<my> home? address <is> <street>", values.PLACE_NAME, place=DECLARED_PLACE),
    form(Field.HOME, "<my>? home_has_been|home's_been in?", values.PLACE_NAME, place=DECLARED_PLACE),
    form(Field.HOME, "<here_from>", values.PLACE_NAME, r"(?=,\s+where (?:i|we) (?:work and )?live\b)", place=DECLARED_PLACE),
    form(Field.HOME, "<moved> into <my> new? <dwelling> in", _PLACE, place=DECLARED_PLACE),
    form(Field.HOME, "<I_am> living|based|settled|residing|domiciled|located|at_home <where>? <in>", _PLACE, place=DECLARED_PLACE),
    form(Field.HOME, "<I_am> <a> <role> living|based|residing in", _PLACE, place=DECLARED_PLACE),
    form(Field.HOME, "living|based <where>? <in>", _PLACE, place=DECLARED_PLACE),
    form(Field.HOME, "<have_lived> <where>? in", _PLACE, place=DECLARED_PLACE, lasting=True),
    form(Field.HOME, "<I_have> been in", values.PLACE_NAME, _FOR_YEARS, place=DECLARED_PLACE),
    form(Field.HOME, "<I_am> staying in", values.PLACE_NAME, _FOR_YEARS, place=DECLARED_PLACE),
    form(Field.HOME, "i|we stay in", values.PLACE_NAME, place=MOVED_PLACE),
    form(Field.HOME, "<my> <dwelling> <is> <where>? <in>", _PLACE, place=DECLARED_PLACE),
    form(Field.HOME, "<my>? home for_me|for_us|now|nowadays? <is> in?", _PLACE, place=MOVED_PLACE),
    form(Field.HOME, "<my>? home <is> in? <a> <settlement> called|named", _PLACE, place=MOVED_PLACE),
    form(Field.HOME, "<moved> <direction>? <from_place>? to", _PLACE, place=MOVED_PLACE),
    form(Field.HOME, "<made> my|our home in", _PLACE, place=DECLARED_PLACE),
    form(Field.HOME, "<my> <dwelling_is> <where>? <in>", _PLACE, place=DECLARED_PLACE),
    form(Field.HOME, "<I_have> a|an|our <own_dwelling> in", _PLACE, place=DECLARED_PLACE),
    form(Field.HOME, "<I_have> settled|settled_down in", _PLACE, place=DECLARED_PLACE),
    form(Field.HOME, "<I_may>? settled|settled_down in", _PLACE, place=MOVED_PLACE),
    form(Field.HOME, "<I> rent|share <a> <dwelling> <where>? in", _PLACE, place=DECLARED_PLACE),
    form(Field.HOME, "<I_am> <a> resident|inhabitant of", _PLACE, place=DECLARED_PLACE),
    form(Field.HOME, "the city|town|village|place <where_I_live> <is>", _PLACE, place=MOVED_PLACE),
    form(Field.HOME, "<moved> <out_of>? into <a> <dwelling> in", _PLACE, place=DECLARED_PLACE),
    form(Field.HOME, "<I> moved|live in_with <where>? in", _PLACE, place=DECLARED_PLACE),
    form(Field.HOME, "<my> new home|city|town|village <is>", _PLACE, place=MOVED_PLACE),
    form(Field.HOME, "calling", _PLACE, r"(?=\s+home\b)", place=MOVED_PLACE),
    form(Field.HOME, "<I> live|reside right|deep|just? in|on <part_of>", _PLACE, place=DECLARED_PLACE),
    form(Field.HOME, "<I> call", _PLACE, r"(?=\s+(?:my )?home\b)", place=DECLARED_PLACE),
    form(
        Field.HOME,
        "",
        values.PLACE_NAME,
        rf"(?=(?:\s+is|['’]s){values.ADV}\s+(?:(?:my|our)(?: new)? home|where (?:i|we) live)(?:\s*[.,!;]|$|\s+(?:now|these)\b))",
        place=MOVED_PLACE,
    ),
    form(
        Field.HOME,
        "",
        values.PLACE_NAME,
        r"(?=(?:\s+(?:has been|has become|became|is|remains|is now)|['’]s(?: been)?)(?: also| still| now| always)? (?:my |our )?home"
        r"(?:\s*[.,!;]|$|\s+(?:to (?:me|us)\b|for\b(?! (?:the )?\w+s\b(?<!years)(?<!months)(?<!decades))|since\b|now\b|these days\b"
        r"|and (?:i|we)\b)))",
        place=DECLARED_PLACE,
    ),
    form(Field.HOME, "<I_am> a|an", values.PLACE_NAME, r"(?=\s+(?:resident|local)\b)", place=DECLARED_PLACE),
    form(Field.HOME, "<I_have> <been> a|an", values.PLACE_NAME, r"(?=\s+(?:resident|local)\b)", place=DECLARED_PLACE, lasting=True),
    form(Field.HOME, "<I_am> <a>", r"(?-i:[A-Z][\w'’]+)", r"(?=[- ]based\b)", place=DECLARED_PLACE),
)
_WORKPLACE: Final = rf"(?:[a-z-]+\s+){{0,2}}?{any_of(work.WORKPLACES)}"
_NOUNS: Final = r"(?!(?:an?|the)\b)(?:(?:machine|deep)[- ]learning\s+)?(?:[a-zA-Z][\w'’-]*\s+){0,3}?[a-zA-Z][\w'’-]*"
_JOB_END: Final = rf"(?:(?=\s+(?:of|for|at|in|with|on|residing|living|based|there|here)\s)|{values.CLAUSE_END})"
_ORDINAL: Final = r"(?:\d{1,2}(?:st|nd|rd|th)|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth)"
_NUMBER: Final = r"(?:\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen)"
_GRADE: Final = (
    rf"(?:{_ORDINAL}(?:(?:[-–/]| and | to | or ){_ORDINAL})?[- ](?:grade|grades|graders?|year|form|years|formers?|class)"
    rf"|(?:grades?|years?|class|form|key stage) {_NUMBER}(?:(?:[-–/]| and | to ){_NUMBER})?)"
)
"""A school year: "third grade", "year 5", "7th graders"."""
_OFTEN_TAUGHT: Final = r"(?:when|every|each|once|twice|again)"
_FOR_A_LIVING: Final = r"(?=\s+(?:professionally\b|by (?:trade|profession|training)|for (?:a|my) living)\b)"
_ROLES_OF_AN_EVENING: Final = "".join(rf"(?<!\b{each})" for each in work.ROLES_OF_AN_EVENING)
_BARE_JOB: Final = (
    r"(?!(?:not|no|a|an|the|my|your|his|her|our|becoming|playing|being|just|only|also|still|now|hardly|barely"
    r"|almost|new)\b)[a-z][\w-]*(?<!ly)(?<!ing)"
    rf"(?: (?!(?:and|or|of|in|at|for|a|an|the)\b)[a-z][\w-]*)?{_ROLES_OF_AN_EVENING}"
)
"""An occupation without an article, as learners put it: "I am graphic designer"."""
_OCCUPATIONS: Final = (
    form(
        Field.OCCUPATION, "<I_am>", _BARE_JOB, r"(?=\s+(?:of|in|at|for|by|from|since|here|now|on|with|these|\d+)\b|\s*[.,!;]|$)", job=True
    ),
    form(
        Field.OCCUPATION,
        "<work> as <a>",
        rf"(?!\w+ as\b)(?![^,.;]*\s(?:{any_of(work.JUDGING)}|became|ended up|worked my way)\b){values.JOB}",
    ),
    form(Field.OCCUPATION, "<work> as", rf"(?!\w+ as\b){_NOUNS}", _JOB_END, job=True),
    form(Field.OCCUPATION, "<I_am> <a>", values.JOB, _FOR_A_LIVING),
    form(Field.OCCUPATION, "<am_or_became> a|an <based>?", _NOUNS, _JOB_END, job=True),
    form(
        Field.OCCUPATION,
        "<am_or_became> the",
        rf"(?:head|chief|lead|local|village|town|resident|deputy|assistant) {_NOUNS}",
        _JOB_END,
        job=True,
    ),
    form(Field.OCCUPATION, "<I_am> the|your new", _NOUNS, _JOB_END, job=True),
    form(
        Field.OCCUPATION,
        "<I_am> a",
        r"(?:stay[- ]at[- ]home [a-z]+|full[- ]time (?:mum|mom|dad|mother|father|parent|carer|caregiver))",
        r"(?=\W|$)",
    ),
    form(
        Field.OCCUPATION,
        "<I_am>",
        r"(?:in|with) the (?:army|navy|air force|marines|police|police force|fire brigade|fire service|coast"
        r" ?guard|merchant navy|civil service|nhs|ambulance service|military)",
    ),
    form(Field.OCCUPATION, "", _NOUNS, r"(?=\s+here\s*(?:[^\w\s?]|$))", job=True),
    form(Field.OCCUPATION, "in <my> job <I> work", rf"(?:at|for|in|with) {values.PHRASE}"),
    form(Field.OCCUPATION, "<I> make|earn a|my living by|from?", rf"[a-z]{{3,}}ing {values.PHRASE}"),
    form(
        Field.OCCUPATION, "for a|my living <I>", rf"(?:[a-z]{{3,}}|look after|head up|am (?:in charge of|responsible for)) {values.PHRASE}"
    ),
    form(Field.OCCUPATION, "<I>", rf"drive an? (?:[a-z]+ )?{any_of(work.VEHICLES)}"),
    form(
        Field.OCCUPATION,
        "<I_am>",
        rf"(?:head|chief|lead|senior|junior|deputy|assistant|freelance|self-employed)\s+{_NOUNS}",
        _JOB_END,
        job=True,
    ),
    form(Field.OCCUPATION, "<am_or_became> a|an <something_and> a|an?", _NOUNS, _JOB_END, job=True),
    form(Field.OCCUPATION, "<I_have> become|turned <a>", _NOUNS, _JOB_END, job=True),
    form(Field.OCCUPATION, "<I_have> worked as <a>", _NOUNS, _JOB_END, job=True, lasting=True),
    form(Field.OCCUPATION, "<I_have> <been> <a>", _NOUNS, _JOB_END, job=True, lasting=True),
    form(Field.OCCUPATION, "<been> <a>", _NOUNS, _JOB_END, job=True, lasting=True),
    form(Field.OCCUPATION, "<work> as", rf"(?:head|director|chief|vice president) of {values.PHRASE}"),
    form(Field.OCCUPATION, "<I_am> the?", rf"(?:head|director|chief|vice president) of {values.PHRASE}", r"(?=\s+(?:at|for|in)\b)"),
    form(Field.OCCUPATION, "<I_am> the?", rf"head of (?!(?:the|household|my|our|a|state)\b){values.PHRASE}"),
    form(Field.OCCUPATION, "<my> job|profession|occupation|trade|day_job|career <is> being? <a>?", _NOUNS, _JOB_END, job=True),
    form(
        Field.OCCUPATION,
        "<my> job|profession|occupation|work|day_job <is>",
        rf"[a-z]{{3,}}ing\s+(?!(?:me|us|my|at|in|on|like|out|up|down)\b)[a-z-]+(?:\s+(?!{values.STOP}\b)[a-z-]+)?",
    ),
    form(
        Field.OCCUPATION,
        "<am_or_became> the",
        _NOUNS,
        rf"(?=\s+(?:(?:here|now|currently)\s+)*(?:(?:at|for|in|of) (?:an?|our|(?-i:[A-Z])\w*"
        rf"|(?:the )?(?:\w+ )?{any_of(work.WORKPLACES, homes.SETTLEMENTS)})"
        rf"|at the)\b(?!\s*(?:{any_of(work.PRIVATE_OCCASIONS)})\b)(?! \w+ {any_of(work.PRIVATE_OCCASIONS)}\b))",
        job=True,
    ),
    form(
        Field.OCCUPATION,
        "<I>",
        rf"teach\s+(?:{_GRADE}|(?:the\s+)?{any_of(work.SCHOOL_LEVELS)})(?:\s+(?!{values.STOP}\b)(?!{_OFTEN_TAUGHT}\b)[a-z]+){{0,2}}?",
        rf"(?:{values.CLAUSE_END}|(?=\s+(?:at|in|on|for)\b))",
    ),
    form(Field.OCCUPATION, "<I>", rf"teach\s+(?!{any_of(work.UNTAUGHT)}\b)[a-z]+"),
    form(Field.OCCUPATION, "<I>", rf"[a-z]{{2,}}\s+(?:(?:at|in|on|with)\s+)?{values.PHRASE}(?:\s+in an? [a-z]+)?", _FOR_A_LIVING),
    form(Field.OCCUPATION, "<I>", any_of(work.TRADES_AS_ACTS), _FOR_A_LIVING),
    form(
        Field.OCCUPATION,
        "<I>",
        rf"(?:do|teach) (?!(?:my|it|this|that|the|them)|homework\b){values.PHRASE}",
        r"(?=\s+(?:full[- ]time|professionally)\b)",
    ),
    form(Field.OCCUPATION, "<I> just? qualified as a|an", _NOUNS, _JOB_END, job=True),
    form(Field.OCCUPATION, "<my> line of work <is>", values.PHRASE),
    form(Field.OCCUPATION, "<my> job|work title <is>", _NOUNS, _JOB_END, job=True),
    form(Field.OCCUPATION, "<I_am> in", any_of(work.SURE_SECTORS)),
    form(Field.OCCUPATION, "<I> work <time>? in the?", any_of(work.SECTORS)),
    form(Field.OCCUPATION, "<I> do", any_of(work.SECTORS), r"(?=\s+for (?:an?|the|my)\b)"),
    form(Field.OCCUPATION, "<my> job|profession|occupation|trade|day_job <is> in?", any_of(work.SECTORS)),
    form(Field.OCCUPATION, "as|being a|an", _NOUNS, rf"(?=,?\s+(?:{any_of(work.PRESENT_ACTS)}\b|i\s+{PRESENT}))", job=True),
    form(Field.OCCUPATION, "<I> work <time>?", rf"(?:in|at|on) (?:an?|the|our|our local|my local) {_WORKPLACE}"),
    form(
        Field.OCCUPATION,
        "<I> work <time>?",
        rf"(?:at|for|in) (?:an?|the|our|my (?:[a-z]+['’]?s))(?:"
        rf" (?!{any_of(work.NO_WORKPLACES, clauses.ADJUNCTS)}\b)(?!{values.STOP}\b)[a-z][\w'’-]*){{1,4}}",
        rf"(?:(?=\s+(?:downtown|uptown|nearby|there|here|of|as)\b)|{values.CLAUSE_END})(?!\s+(?:until|when|if|tomorrow|today|tonight)\b)",
    ),
    form(Field.OCCUPATION, "<I>", rf"(?:run|own|manage) (?:an?|my own) {_WORKPLACE}"),
    form(Field.OCCUPATION, "<I>", r"(?:(?:run|own|manage) (?:an?|my own)|have my own) (?:(?!for\b)[a-z-]+\s+){1,4}?(?:business|stall)"),
    form(Field.OCCUPATION, "<I_am>", any_of(("retired", "self-employed", "unemployed", "freelancing", "semi-retired", "between jobs"))),
    form(
        Field.OCCUPATION,
        "<I>",
        TRADE_ACTS,
        r"(?=\s*(?:[.,!;:)…—–]|$)|\s+(?:for|at|in|on|all|and|but|so|most|every|six|five|four|three|of|part-time"
        r"|full-time|nights|days|mostly|these|here|with|to|up|across)\b)",
    ),
    form(Field.OCCUPATION, "<I_am> a|an", r"(?:[a-z]+ ){1,2}?(?:major|undergrad|undergraduate)", values.CLAUSE_END),
    form(Field.OCCUPATION, "<I_am>", rf"(?:training|studying) (?:to be|to become|as) an? {_NOUNS}", _JOB_END),
    form(Field.EMPLOYER, "<I> work for|at", rf"(?:the\s+)?{values.NAME}"),
)
_SUBJECT: Final = rf"(?:[a-z]+ (?:and )?)?(?:[a-z]+(?:ology|nomics|ography|metry|physics|matics|engineering)|{any_of(work.SUBJECTS)})"
_STUDIES: Final = (
    form(
        Field.OCCUPATION,
        "<I_am>",
        rf"(?:doing|pursuing|finishing|completing|working on|studying for) (?:an?|my|the) {any_of(work.DEGREE_COURSES)}(?: degree)?"
        rf"(?: (?:in|on|of) {values.PHRASE})?",
        r"(?=\W|$)",
    ),
    form(
        Field.OCCUPATION,
        "<I_am>",
        rf"writing (?:a|my|the) (?:doctoral|phd|master['’]?s?|bachelor['’]?s?|masters) (?:thesis|dissertation)(?: (?:on|about"
        rf"|in) {values.PHRASE})?",
        r"(?=\W|$)",
    ),
    form(Field.OCCUPATION, "<I>", rf"study {_SUBJECT}", rf"(?=\s+(?:at|in|here)\b|{values.CLAUSE_END})"),
    form(Field.OCCUPATION, "<I_am>", rf"studying {_SUBJECT}", rf"(?=\s+(?:at|in|here)\b|{values.CLAUSE_END})"),
)
_CEFR: Final = r"[ABC][12]\+?"
_SIZE: Final = r"size (?:\d+(?:[.,]\d+)?|X{0,3}[SML])"
_SIZE_END: Final = (
    rf"(?:{values.CLAUSE_END}|(?=\s+(?:uk|us|eu|shoes?|boots?|trainers?|sneakers?|dress(?:es)?|shirts?|trousers|jeans|jackets?|pants)\b))"
)
_OTHERS: Final = (
    form(Field.AGE, "<I_am>", r"\d{1,2}(?: years old)?"),
    form(
        Field.BIRTHDAY,
        "<my> birthday <is> on?",
        r"(?:the )?\d{1,2}(?:st|nd|rd|th)?(?: of)? (?-i:[A-Z][a-z]+)|(?-i:[A-Z][a-z]+) \d{1,2}(?:st|nd|rd|th)?",
    ),
    form(Field.LEVEL, "<I_am> in the?", rf"(?:grade|year|class|form)\s+\w+|{_ORDINAL}[- ](?:grade|form|year)(?: of [a-z]+(?: school)?)?"),
    form(Field.LEVEL, "<I_am> a|an", rf"{_ORDINAL}[- ](?:grader|former|year)|freshman|sophomore"),
    form(
        Field.LEVEL,
        "<I_am> a|an <big>?",
        r"(?:absolute |complete |total |only )?(?:beginner|novice|newbie|advanced learner|intermediate)",
        r"(?=\s+(?:at|in|with|really|still)\b|\s*[.,!;]|$)",
    ),
    form(Field.LEVEL, "<I_am>", r"(?:upper |lower |pre-)?(?:intermediate|advanced)", r"(?=\s+(?:at|in|with)\b|\s*[.,!;]|$)"),
    form(Field.LEVEL, "<I_am> at|on", rf"(?:level\s+)?{_CEFR}(?:\s+level)?"),
    form(Field.LEVEL, "my <language> <is>", rf"(?-i:(?:about |around )?{_CEFR})"),
    form(Field.LEVEL, "<my> <language>? level <is>", rf"(?:about |around )?{_CEFR}"),
    form(Field.SIZE, "<my>", r"(?:[a-z]+ )?size is (?:\d+(?:[.,]\d+)?|X{0,3}[SML])"),
    form(Field.SIZE, "<I> wear|take|need|fit <a>?", rf"(?:[a-z]+ )?{_SIZE}", _SIZE_END),
    form(Field.SIZE, "<I_am> <a>?", rf"(?:[a-z]+ )?{_SIZE}", _SIZE_END),
    form(
        Field.SIZE,
        "<I> wear|take|need a|an",
        r"\d{2}(?:[.,]5)?",
        r"(?=\s+in (?:dresses|shoes|trousers|jeans|shirts|jackets|skirts|coats|boots)\b)",
    ),
    form(
        Field.GOAL,
        "<I_am> preparing|studying|revising for",
        r"(?:the |my )?(?:(?-i:[A-Z][A-Z0-9]{2,})(?: exam| test)?|[a-z]+ (?:exams?|finals|certificate))",
    ),
    form(Field.LEARNING, "<I> learn best", rf"(?:by|with|from|through|when|in) {values.PHRASE}"),
    form(Field.LEARNING, "<I_am> a|an", r"(?:visual|auditory|kin(?:a)?esthetic|hands-on|tactile|verbal|slow|fast|self-taught) learner"),
    form(
        Field.LEARNING,
        "<I> need|understand|get|learn|remember|prefer|like",
        r"(?:things |it )?(?:better |best |more |faster )?(?:with |from |through |by )?(?:seeing |watching "
        rf"|doing |drawing )?{any_of(work.WAYS_OF_LEARNING)}",
        r"(?=,? (?:not|rather than|instead of|more than|over|to (?:learn|understand|get)|before|than)\b)",
    ),
    form(
        Field.GOAL,
        "<I> want|hope|aim|would_like|need",
        r"(?:to )?(?:be able to|become able to|finally be able to) [^.,;!?\n]{3,80}?",
        r"(?=\s+(?:before|by|so|because|and|but)\b|[.,;!?\n]|$)",
    ),
    form(
        Field.SIZE,
        "<I_am> a|an|more_of_an|more_of_a|usually_a|usually_an|between_a",
        r"(?:\d{2}(?:[.,]5)?|X{0,3}[SML]|small|medium|large|extra large|petite)",
        r"(?=\s*(?:[.,!;]|$)|\s+(?:in|these|now|wide|narrow|regular|tall|and|or|on)\b)",
    ),
    form(
        Field.SIZE,
        "<I> wear|take|need|fit|am a|an",
        r"(?:X{0,3}[SML]|small|medium|large|extra large)",
        r"(?=\s*(?:[.,!;]|$)|\s+(?:in|these|now|and|or|on|for)\b)",
    ),
    form(Field.GOAL, "<my> main|big? goal|aim|target|objective <is> to?", r"[^.,;!?\n]{3,80}", "(?=.|$)"),
)
PERSONAL_FORMS: Final[tuple[Form, ...]] = (*_NAMES, *_HOMES, *_OCCUPATIONS, *_STUDIES, *_OTHERS)
