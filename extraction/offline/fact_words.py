"""The words and forms of which the grammar of plain statements is made, as parts of regular expressions."""

import re
from typing import Final

FIRST_PERSON: Final = r"(?:I|i|we|We)"
I_AM: Final = r"(?:(?:I|i)(?:\s?['’]\s?m|m| am)|(?:we|We)(?:['’]re| are))"
I_HAVE: Final = r"(?:(?:I|i|we|We)(?:['’]ve| have))"
ADVERBS: Final = (
    r"(?i:(?:now|currently|still|just|recently|finally|also|actually|already|really|truly|mostly|officially|happily"
    r"|permanently|always|absolutely|quite"
    r"|very much|honestly|do|both|usually|generally|particularly|especially|even|simply|lately)\s+)*"
)
STOP: Final = (
    r"and|or|but|so|because|cause|which|since|for|when|while|with|on|until|till|from|if|at|who|where|though|although"
    r"|as|than|that|in|near|by|after|before|during|mostly"
    r"|mainly|now|these|lately|too|also|please|anyway|though|however|except|unless|is|are|was|were|me|him|her|them|us"
    r"|you|every|more|most|right|over|again|especially|instead|any|to|all|half|about"
)
CLAUSE_END: Final = (
    r"(?=\s*(?:[.!,;:()…—–-]|$)|\s+(?:"
    + STOP
    + r"|i|I|my|just|across|behind|next|close|up|down|here|there|there[\'’]s|btw|lol|tbh|fyi|pls|together|out|online|not|last|this|back"
    r"|(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|several|\d+) (?:few "
    r"|couple (?:of )?)?(?:hrs?|hours?|days?|weeks?|months?|years?|while)"
    r")\b|\s*[^\w\s.,;:!?'\"-])"
)
WORD: Final = r"[^\W\d_][\w'’&+#-]*(?:\+\+|#)?"
PHRASE: Final = rf"(?:(?:the|a|an|my|some|all|any)\s+)?(?!(?:{STOP})\b)(?:{WORD})(?:\s+(?!(?:{STOP})\b)(?:{WORD}|of\b|\d+)){{0,4}}"
AND_ALSO: Final = (
    rf"(?:\s+and\s+(?!(?:I|i|my|we|our|he|she|it|they|you|the|not|so|also)\b){WORD}(?:\s+(?!(?:{STOP})\b){WORD})?(?=\s*(?:[.!]|$)))?"
)
_CAPITAL: Final = r"[A-ZÀ-ÖØ-ÞĀ-Ž][\w'’.-]*[\w]|[A-ZÀ-ÖØ-ÞĀ-Ž]"
NAME: Final = (
    rf"(?:(?:Dr|Prof)\.? )?(?:{_CAPITAL})(?:\s+(?:(?:van|von|der|den|de|da|di|del|la|el|al|bin|ibn|ter|ten|du)\s+)*(?:{_CAPITAL})){{0,2}}"
)
_WEEKDAYS: Final = "Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|Today|Tomorrow|Christmas|Easter"
NOT_NAMES: Final = re.compile(
    rf"(?:(?:{_WEEKDAYS})s?|January|February|March|April|May|June|July|August|September|October|November|December|I|The"
    rf"|My|And|But|Who|He|She|It|Is|Was|Has|Will you|When|If|Or|Crazy|Old|Maybe|Back|Later|When|Tomorrow|God"
    rf"|Said|Says|Told|Went|Has|Had|Does|Did|Are|Were|Would|Could|Can|Also|Just|Mr|Mrs|Ms|Mud|English|German|French"
    rf"|Spanish|Dutch|Irish|Italian|Mom|Dad|Mum)\b"
)
ADJECTIVES: Final = (
    r"vegan|vegetarian|back|here|new|sure|sorry|fine|good|great|happy|sad|tired|hungry|bored|lost|ready|curious|stuck"
    r"|confused|glad|late|single|married"
    r"|pregnant|sick|ill|busy|free|retired|ok|okay|well|not|so|very|really|just|still|currently|on|in|at"
)
PLACE_NAME: Final = (
    rf"(?:the\s+)?(?:{_CAPITAL})(?:\s+(?:(?:of|de|da|do|del|la|le|am|an der|upon|on|sur|the|di|el|os)\s+)*(?:{_CAPITAL})){{0,3}}"
)
PLACE: Final = rf"(?P<value>{PLACE_NAME}(?:,\s+{PLACE_NAME})?|(?-i:[a-z]{{3,20}}))"
SINCE: Final = r"(?=.*\b(?:since|for|my whole life|all my life|forever|now)\b)"
WHERE: Final = (
    r"(?:(?:here|over here|together|alone|full-time|part-time|with (?:my|our|two|three|some|a) [^,;.]{1,30}? in"
    r"|on [^,;.]{1,40}? in|near|just outside|outside"
    r"|not far from|in an? (?:[a-z-]+ ){1,3}?in|in an? (?:[a-z-]+ ){0,3}(?:village"
    r"|town|city|place|hamlet|island|suburb) (?:called|named)|in)\s+)?"
)
_OCCUPATION_HEADS: Final = """
accountant actor actress actuary analyst animator anthropologist archaeologist architect archivist artist assistant astronomer attorney
auditor author baker banker barber barista bartender beekeeper biochemist biologist blacksmith bookbinder bookkeeper bookseller
botanist brewer bricklayer broker builder butcher buyer caretaker carer carpenter cartographer cashier caterer chef chemist
chiropractor choreographer cleaner clerk coach cobbler columnist composer conductor consultant contractor cook copywriter counsellor
counselor courier curator dancer dentist dermatologist designer developer diplomat director diver doctor driver ecologist economist
editor electrician engineer entrepreneur epidemiologist estate-agent executive farmer ferryman firefighter fisherman fishmonger fitter
florist forester gardener geographer geologist glassblower glazier goldsmith guard guide gynaecologist gynecologist hairdresser
handyman historian host hydrologist illustrator inspector instructor interpreter inventor investigator janitor jeweller jeweler joiner
journalist judge labourer lawyer lecturer librarian lifeguard linguist locksmith logistician machinist magician maker manager masseur
masseuse mathematician mechanic meteorologist metallurgist midwife milliner miner model mortician musician nanny neurologist
neuroscientist novelist nurse nutritionist officer operator optician optometrist orthodontist paediatrician painter paralegal paramedic
pathologist pediatrician performer pharmacist pharmacologist philosopher photographer physician physicist physio physiotherapist
pianist pilot plasterer plumber podiatrist poet policeman policewoman politician porter postman potter producer professor programmer
prosecutor psychiatrist psychologist psychotherapist publisher radiographer radiologist ranger realtor receptionist recruiter referee
reporter repairer researcher restorer roofer sailor salesman salesperson saleswoman scholar scientist sculptor seamstress secretary
shepherd shoemaker singer social-worker sociologist soldier solicitor sommelier specialist statistician steward stewardess stonemason
strategist surgeon surveyor tailor tattooist teacher technician tester therapist tiler toolmaker trader trainer translator treasurer
tutor typist underwriter upholsterer urologist veterinarian vet vintner violinist waiter waitress watchmaker weaver welder winemaker
worker writer zookeeper zoologist student
archer astronaut bailiff bellhop biathlete boatbuilder bodyguard bosun brewster cabinetmaker caddie camerawoman cameraman candlemaker
cheesemaker chocolatier clockmaker coroner cowherd cyclist-courier dairyman docker doorman doula draughtsman dressmaker embalmer
falconer farrier firewoman fisher flautist fundraiser furrier gamekeeper goatherd groom groundskeeper hydrogeologist ironmonger
jockey keeper lexicographer lumberjack luthier makeup-artist milkman mixologist notary numismatist oceanographer organist
palaeontologist paleontologist perfumer picker piercer planner puppeteer rigger saddler sawyer sexton signwriter silversmith
speechwriter stagehand stonecutter stuntman stuntwoman tanner thatcher tinsmith tuner undertaker usher warden winegrower wrangler
"""
OCCUPATIONS: Final = "|".join(sorted(_OCCUPATION_HEADS.split(), key=len, reverse=True))
NO_JOB: Final = (
    r"(?!\S*(?:former|retired|ex|aspiring|future|wannabe|would|fake|bad|good|great|terrible|natural|born|horrible"
    r"|awful|lousy|world|obviously|better|self-(?:proclaimed|declared|styled|made)|big|huge|proud|bit|kind|sort|lot"
    r"|real|decent|hobby|amateur|lazy|full-time disappointment)\b)"
)
JOB: Final = rf"(?!(?:{STOP})\b)(?:[a-zA-Z][\w'’-]*)(?:\s+(?!(?:{STOP})\b)[a-z][\w'’-]*){{0,3}}"
RELATIVES: Final = (
    r"wife|husband|spouse|partner|girlfriend|boyfriend|fiancée?|sister|brother|mother|father|mom|mum|dad|son|daughter"
    r"|grandma|grandmother|grandpa|grandfather|grandson|granddaughter|aunt|uncle"
    r"|cousin|niece|nephew|best friend|friend|dog|cat|puppy|kitten|horse|pony|donkey|rabbit|parrot"
    r"|budgie|hamster|guinea pig|gecko|tortoise|turtle|goldfish|ferret|boss|roommate|flatmate"
    r"|housemate|neighbou?r|colleague|mother-in-law|father-in-law|sister-in-law|brother-in-law|stepson|stepdaughter"
)
WHOSE: Final = r"(?:(?:older|younger|little|big|elder|twin|eldest|youngest|new|dear|oldest|middle|baby|old|wee)\s+)?"
_MODAL: Final = r"(?!(?:Will|May)\s+(?!is\b|was\b|has\b|and\b)[a-z]+(?<!s)\b)"
"""The verbs of "My boss Will not come", written with a capital."""
FIRST_NAME: Final = rf"(?P<value>{_MODAL}(?!(?:{NOT_NAMES.pattern}))(?:{_CAPITAL})(?<!['’]s)(?:['’]s)?)"
