"""Nouns that name an occupation: a list of heads, endings that nearly only occupations have, and the exceptions."""

from typing import Final

from extraction.offline.grammar.patterns import any_of, listed, word_set
from memory.texts.prefiltered_patterns import compiled

_HEADS: Final = word_set("""
actuary first-mate second-mate chief-mate apothecary barkeep binman cabbie cabby carrier chaplain consul curate deacon
deckhand farmhand stagehand greengrocer grocer
hotelier innkeeper lead magistrate missionary mixologist newsagent ombudsman orchardist publican quant rancher restaurateur sherpa
roustabout tobacconist rn gp emt ceo cto cfo coo sre swe dev assembler controller crofter chandler cutler decorator demonstrator
dyer enameller fabricator gilder glover hatter hosier inker insulator logger longshoreman mason moulder ostler paver plater polisher
printer riveter roaster sander seller shearer slater spinner stoker typesetter valuer woodcutter wigmaker dog-walker groomer
dog-groomer house-sitter babysitter childminder pet-sitter trawlerman planner caregiver astronomer philosopher engraver cartographer
choreographer geographer lexicographer cheesemonger fishmonger ironmonger biographer oceanographer stenographer radiographer
demographer bookseller salesperson jailor surveyor assessor supervisor distributor translator narrator investor realtor tutor
sculptor solicitor auditor prosecutor governor mayor senator councilor conservator bookkeeper crossing-guard security-guard
tradie tradesman tradeswoman
postwoman firewoman fireman brewmaster stationmaster webmaster milkman cowboy cowgirl ballerina model waiter bouncer doorman
concierge porter vet-tech baggage-handler paperboy optician optometrist biochemist chemist economist ecologist linguist machinist
receptionist stylist therapist typist zoologist numismatist archivist columnist essayist lobbyist chemist dramatist harpist flautist
flutist cellist guitarist trombonist bassist percussionist saxophonist organist soloist accompanist illusionist ventriloquist
contortionist trapeze-artist acrobat juggler clown accountant actor actress administrator advisor adviser advocate agent aide
ambassador analyst animator apprentice archer architect archivist artist assistant astronaut attorney au-pair auditor author bailiff
baker banker barber barista barmaid barman barrister bartender beautician bellhop blacksmith blogger bookbinder bosun brewer
brewster bricklayer brickie broker builder busker butcher buyer caddie cameraman camerawoman captain caretaker carer carpenter
cashier caterer chauffeur chef chemist chimney-sweep clerk coach cobbler columnist comedian commander commissioner composer
conductor consultant contractor cook cooper coordinator co-ordinator cop copywriter coroner councillor counsellor counselor courier
cowherd croupier curator dancer dentist designer detective developer diplomat director dispatcher diver dj docker doctor doula
draughtsman driver editor electrician embalmer engineer entrepreneur estimator examiner executive facilitator falconer farmer
farrier ferryman firefighter fisher fisherman fitter florist forager forester freelancer fundraiser furrier gardener glassblower
glazier groom guard guide gunsmith gynaecologist gynecologist hairdresser handler handyman headhunter headmaster headteacher
homemaker househusband housewife historian host hostess housekeeper illustrator imam inspector instructor intern interpreter
inventor investigator jailer janitor jeweler jeweller jockey joiner journalist judge keeper labourer laborer landscaper lawyer
lecturer librarian lifeguard logistician lumberjack luthier machinist magician maid maker manager marine marketer masseur masseuse
matron mechanic mediator medic merchandiser merchant midwife milliner miner minister model monk mortician musician nanny navigator
negotiator notary notary-public novelist nun nurse officer operator optician optometrist orderly organiser organizer packer
paediatrician painter paralegal paramedic pastor performer pharmacist photographer physician physicist physio pianist pilot planner
plasterer plumber poet policeman policewoman politician porter postdoc postie postman potter priest principal processor producer
professor programmer promoter proofreader prosecutor publicist publisher puppeteer purser quilter rabbi ranger realtor receptionist
recruiter referee registrar rep reporter representative researcher restorer rigger roadie roofer sailor salesman salesperson
saleswoman scaffolder scheduler scholar scientist scout sculptor sculptress seamstress secretary sergeant setter sexton sheriff
shepherd shoemaker signaller singer skipper social-worker soldier solicitor sommelier sparky specialist statistician stevedore
steward stewardess stonemason storyteller strategist student stuntman stuntwoman stylist superintendent supervisor surgeon surveyor
sysadmin tailor tanner tattooer teacher technician telemarketer teller temp tester thatcher therapist tiler tracker trader trainee
trainer translator trapper treasurer trucker tuner tutor typist undertaker underwriter upholsterer usher valet vendor vet
veterinarian vicar vintner violinist waiter waitress warden washer weaver welder winemaker worker wrangler wright writer zookeeper
""")
_ENDINGS: Final = listed("""
    *ologist, *ographer, *ician, *smith, *keeper, *maker, *wright, *monger, *herd, *builder, *onomist, *atrist, *opath, *therapist,
    *ometrist, *grower, *breeder, *cutter, *fitter, *dresser, *binder, *blower, *layer, *worker, *cleaner, *washer, *picker, *grinder,
    *tender, *warden, *master, *chef, *painter, *writer, *engraver, *woman, *man, *nurse, *teacher, *driver, *guard, *officer,
    *seller, *broker, *weaver, *turner, *finisher, *carver, *tuner, *trimmer, *setter, *planner, *designer, *developer, *engineer,
    *producer, *presenter, *caster, *caretaker
""")
_AGENT: Final = compiled(r"[a-z]{3,}(?:ist|ician|eer)")
"""Nouns of agents that are occupations more often than not, except those below. Those in -er and -or are as often traits or things."""
_NO_OCCUPATIONS: Final = word_set("""
sucker superhero admirer adventurer aficionado agnostic alcoholic amateur ancestor atheist bachelor backpacker baptist beginner
believer biker bleeder boomer booster brother buddhist burner camper canadian capitalist celebrator chatter cheater christian citizen
civilian climber collector  commoner communist commuter completionist conformist consumer contender contester
contributor cyclist daughter daydreamer debtor devotee dieter doer donor doubter dreamer drinker dropper dweller earner easterner
eater egoist elder elitist enabler enjoyer environmentalist escapist explorer extremist faker father feminist fiddler fighter follower
foreigner fundamentalist gambler gamer generalist giver goer gossiper grandfather grandmother guardian hater healer hedonist helper
hiker hipster hoarder hobbyist homeowner hugger human humanist humanitarian idealist individualist insider islander italian jogger
 joker junior kayaker keener knitter latecomer learner leaner leader lesbian letter liar libertarian lifer listener loner
loser lover lurker man master masochist materialist maximalist member mentor minimalist minor monster mother motorist mountaineer
mover mourner narcissist nationalist neighbor neighbour newcomer nihilist northerner observer offender optimist outlier outsider
overachiever overeater overthinker owner pacifist paddler parishioner partner passenger peacemaker perfectionist pessimist pilgrim
planter player pleaser ponderer poser poster powerlifter prayer presbyterian pretender prisoner procrastinator protester purist
quitter racer racist rambler reader realist regular renter responder rider riser roamer rocker rookie rower runner sagittarian saver
seeker senior separatist sexist shareholder shopper sibling sinner sister sitter skater skier sleeper smoker snorer snowboarder
socialist southerner spectator speaker spender spinster stammerer stander starter stargazer stepfather stepmother stickler stoner
stranger stutterer subscriber sufferer supporter surfer survivor swimmer sympathiser sympathizer taker talker taxpayer teenager
teetotaller tenant texter thinker tinkerer toddler tourist traditionalist traitor traveler traveller trekker troublemaker user
utilitarian vegetarian victim viewer villager visitor volunteer voter walker wanderer warrior watcher weightlifter westerner whiner
widower winner woman worrier worshipper youngster zoomer caveman snowman superman batman spiderman conman hitman madman gentleman
gunman layman everyman matter counter customer shutter butter bitter better shorter taller older younger bigger smaller longer poorer
richer happier faster slower warmer colder quicker later earlier order never forever however super former proper hyper sober clever
eager tender slender major summer winter number finger spider tiger panther hamster lobster oyster rooster imposter impostor dictator
predator alligator terror error mirror horror reptilian vulcan martian barbarian meridian cancer disaster founder laggard
people-pleaser quaker methodist  loser outdoorsman sceptic septuagenarian octogenarian nonagenarian centenarian vulgarian
bohemian german norman roman ottoman parisian londoner berliner  housemaster  monger other another rather whether neither either
together alter  sportsman sportswoman craftsperson  latter pointer gatherer scavenger  hunter
 angler birder birdwatcher cruiser dabbler doodler crafter scrapbooker sewer crocheter puzzler collector vlogger
streamer archer cosplayer twitcher snorkeler  skydiver boarder roller gym-goer lifter bodybuilder boxer wrestler fencer
golfer footballer cricketer
""")
_UNREAL: Final = listed("""
    former, ex, soon-to-be, to-be, first-time, long-time, second-time, aspiring, future, wannabe, would-be, fake, self-proclaimed,
    self-declared, self-styled, self-appointed, self-confessed, so-called, hobby, amateur, armchair, pretend, imaginary,
    make-believe, failed, failing, frustrated, hopeful, budding, glorified, honorary, closet, secret, wizard, space pirate,
    medieval, ninja, one-time, virtual, lapsed, born, natural-born, disappointed, professional overthinker, weekend, backseat
""")
"""Words that make an occupation a wish, a joke or a memory, wherever they are in the phrase."""
_TRAITS: Final = listed("""
    world*, better, big, bad, good, great, terrible, natural, horrible, awful, lousy, huge, proud, bit, kind, sort, lot, real, decent,
    lazy, light, heavy, deep, slow, quick, fast, firm, strong, true, keen, avid, hard, late, early, picky, fussy, occasional, casual,
    regular, poor, excellent, fantastic, passionate, enthusiastic, devoted, total, complete, absolute, hopeless, perfect, mere,
    lifelong, frequent, compulsive, chronic, lucky, sore, mediocre, average, wonderful, legendary, reluctant, worst, best, nervous,
    human, typical, cautious, careful, impatient, patient, social, lonely, not, clumsy, messy, mean, decent, okay, crap, rubbish,
    brilliant, gifted, fierce, loyal, huge, tough, disaster, shit, shitty, miserable, proper, wild
""")
"""Words right before a noun of agent that make it a trait: "a light sleeper", "a big spender", "a terrible singer"."""
_NO_JOB: Final = compiled(
    r"^(?:human|one man|one-man|living|walking)\b|(?:ment|ness|tion|ity|ship|ance|ence|dom|hood|charm|dream|treat|slave"
    r"|dog|horse|mule|machine"
    r"|planned|expected|team|clock|alarm|robot|taxi|unit|sucker)$"
)
"""Phrases after "I work as a" that name no occupation."""
_AFTER_HEAD: Final = compiled(r"\s+(?:of|for|at|in|with|on)\s+.*")
_KNOWN_ENDING: Final = compiled(any_of(_ENDINGS))
_UNREAL_WORD: Final = compiled(rf"(?:.*[\s-])?{any_of(_UNREAL)}[\s-]")
_TRAIT: Final = compiled(rf"(?:.*\s)?{any_of(_TRAITS)}")


def is_occupation(phrase: str) -> bool:
    """Whether a noun phrase names an occupation: "bridge engineer", not "light sleeper".

    Args:
        phrase: Without its article.
    """
    phrase = _AFTER_HEAD.sub("", " ".join(phrase.casefold().split()))
    head = phrase.split()[-1] if phrase else ""
    before = phrase.removesuffix(head).strip()
    compound = "-".join(phrase.split()[-2:])
    last = head.rpartition("-")[2]
    if _UNREAL_WORD.match(f"{before} ") is not None or _UNREAL_WORD.match(head) is not None:
        return False
    if compound in _HEADS or phrase.replace(" ", "-").startswith("stay-at-home-"):
        return True
    is_known = last in _HEADS or _KNOWN_ENDING.fullmatch(last) is not None
    if before == "professional" and not is_known:
        return False  # "a professional napper"
    if _TRAIT.fullmatch(before) is not None or head in _NO_OCCUPATIONS or last in _NO_OCCUPATIONS:
        return False
    return is_known or _AGENT.fullmatch(last) is not None


def is_possible_job(phrase: str) -> bool:
    """Whether a noun phrase after "I work as a" names an occupation; any noun may."""
    phrase = " ".join(phrase.casefold().split())
    phrase = _AFTER_HEAD.sub("", phrase)
    is_joke = phrase.startswith("professional ") and not is_occupation(phrase)
    return not is_joke and _UNREAL_WORD.match(f"{phrase} ") is None and _NO_JOB.search(phrase) is None
