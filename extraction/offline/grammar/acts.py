"""Acts in the simple present, which by their tense state a habit or a trade: "I collect vinyl", "I fix boilers", "we always go camping"."""

from typing import Final

from extraction.offline.grammar.patterns import any_of, listed

_NO_OBJECTS: Final = any_of(
    listed("""
    it, this, that, these, those, them, him, her, you, me, us, there, here, what, how, why, who, when, where, if, whether, with you,
    on this,
    about, about it, about this, about that, to, for you, your, his, their, my best, my part, along, around, by ear, dead, dumb,
    safe, fair, nice, up, out, down,
    off, over, through, into, the ropes, forgetting, something, anything, nothing, everything, more, less, too, so, well, better, no,
    not, as, like, between, on, at, in
""")
)
_WORD: Final = r"[^\W_][\w'’&-]*"
_STOP: Final = (
    r"(?:and|but|or|so|because|since|if|when|whenever|while|until|till|unless|that|which|who|where|i|we"
    r"|you|he|she|it|they|is|are|was|were|than"
    r"|today|tonight|tomorrow|yesterday|now|right|yet|again|this|anyway|though|please|instead|too|also|lol|tbh|to|as)"
)
_REST: Final = rf"(?!{_NO_OBJECTS}\b){_WORD}(?:\s+(?!{_STOP}\b){_WORD}){{0,6}}?"
_HOBBIES: Final = any_of(
    listed("""
    collect, play, read, sing, paint, draw, sketch, knit, crochet, sew, embroider, bake, brew, grow, garden, breed, restore, whittle,
    carve, climb,
    hike, jog, cycle, ski, surf, skate, skateboard, kayak, camp, fish, sail, row, forage, birdwatch, meditate, journal, follow,
    support, volunteer at,
    volunteer with, volunteer for, volunteer in, volunteer, listen to, watch, build, fly, race, ride, dance, blog about, practise,
    practice,
    juggle
""")
)
_DONE: Final = any_of(
    listed("""
    crosswords, yoga, pilates, karate, judo, taekwondo, aikido, jigsaws, jigsaw puzzles, puzzles, sudoku, parkrun, parkruns,
    crossfit, ballet,
    gymnastics, martial arts, pottery, ceramics, calligraphy, origami, archery, stand-up, improv, amateur dramatics, am-dram,
    woodwork, metalwork,
    triathlons, marathons, ironman, boxing, kickboxing, tai chi, zumba, spin classes, circus skills, magic tricks, genealogy
""")
)
_PLAYED: Final = any_of(
    listed("""
    bass, guitar, piano, violin, viola, cello, drums, the drums, trumpet, trombone, sax, saxophone, flute, clarinet, oboe, harp,
    banjo, ukulele,
    accordion, bagpipes, organ, keyboard, keys, fiddle, mandolin, football, five-a-side, rugby, cricket, tennis, squash, badminton,
    hockey,
    netball, basketball, volleyball, softball, baseball, golf, darts, pool, snooker, bridge, chess, poker, bingo, dominoes,
    table tennis, padel,
    lacrosse, handball, futsal, water polo, bowls, boules, petanque, d&d, dungeons and dragons, board games, video games, minecraft, fifa,
    mahjong, go, backgammon, scrabble, cards, pickleball, ultimate frisbee, disc golf, goalkeeper, in goal, wing, centre back,
    midfield, in a band,
    in an orchestra, in a brass band
""")
)
_OFTEN: Final = r"(?:always|usually|mostly|mainly|normally|generally|only|only ever|regularly|religiously|tend to)"
_DAYS: Final = r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days|weekends|weekdays|evenings|mornings|nights|afternoons)"
REGULARLY: Final = (
    r"(?:(?:basically|practically|almost|nearly|pretty much|literally|usually|about) )?"
    r"(?:every (?:single )?(?:other |second |third )?(?:day|morning|evening|night|week|weekend|month|year"
    r"|summer|winter|spring|autumn|fall|lunchtime|christmas|easter|\w+day)"
    r"|(?:once|twice|three times|four times|five times|\w+ times|a few times|a couple of times) (?:a|per)"
    r" (?:day|week|month|year)|daily|weekly|most days"
    rf"|(?:(?:on |on the |at |most ){_DAYS}|{_DAYS} and {_DAYS})(?:(?:,| and|, and) (?:on )?{_DAYS})*)"
)
"""Says of any act that it is a habit."""
_EVERY: Final = (
    rf"(?:{REGULARLY}|{_DAYS}|a lot|regularly|religiously|all the time|whenever (?:i|we) can|in (?:my )?(?:spare|free) time"
    rf"|before (?:work|bed|breakfast|school)|after (?:work|school|dinner)"
    r"|on the (?:train|bus|commute|way to work)|in (?:the )?(?:summer|winter|spring|autumn)|all year round)"
)
_USUAL: Final = any_of(
    listed("""
    drink, wear, take, buy, order, cook, make, sleep, get up, wake up, go to bed, go, shop at, shop in, travel, walk, run, swim,
    bike, drive, work out, train,
    read, watch, listen to, play, write, bake, visit, call, cycle, start my day with, holiday in, holiday, spend
""")
)
PRESENT: Final = (
    r"(?!(?:was|were|had|did|would|could|should|might|may|will|got|went|made|saw|knew|lived|took|gave|came|met|learnt|spent|left|felt"
    r"|said|told|thought|found|became|began|used|wore|ate|drank|drove|flew|earned)\b)(?!\w+ed\b)[a-z]+\b"
)
"""A verb that is in no past and no conditional."""
NO_HABITS: Final = any_of(
    listed("""
    am, is, are, was, were, be, get, feel, think, know, want, need, love, like, hate, find, see, hear, try, forget, remember, lose, miss,
    wait, work, use, fail, struggle, end, seem, mean, say, tell, ask, deploy, commit, push, merge, release, restart, update, send, check,
    receive, hold, close, open, schedule, review, meet, report, publish, ship, invoice, have to, hope, wish, expect, believe, agree,
    prefer, suggest, recommend, assume, worry, wonder, would, could, should, will, can
""")
)
"""Verbs of states, thoughts and office work, which state no habit of life whenever they are done."""
HABIT_ACTS: Final[tuple[str, ...]] = (
    rf"play (?:the |a bit of |some |a lot of )?{_PLAYED}(?:\s+(?!{_STOP}\b){_WORD}){{0,5}}?",
    rf"do (?:the |a lot of |a bit of |some )?{_DONE}(?:\s+(?!{_STOP}\b){_WORD}){{0,5}}?",
    rf"(?:collect|breed|knit|crochet|embroider|brew|whittle|forage|juggle|volunteer (?:at|with|for|in|as)) {_REST}",
    r"support (?-i:(?!The\b|This)[A-Z])[\w'’-]*(?: (?-i:[A-Z])[\w'’-]*)*",
    r"keep (?:an? |my own |\d+ |two |three |four |a few |some )*(?:chickens|hens|ducks|pigeons|canaries"
    rf"|snakes|tropical fish|stick insects|diary|journal|sourdough starter)(?:\s+(?!{_STOP}\b){_WORD}){{0,4}}?",
    r"(?:cycle|bike|walk|run|skateboard|scoot|row|ride my bike|take the (?:bus|train|tram|ferry|tube)|travel by (?:bus|train|bike))"
    r" (?:everywhere|to (?:work|school|uni|college|campus|the (?:office|station|lab)))",
    r"(?:take|have) (?:one|two|three|four|no|\d|half a) sugars?(?: in my [a-z]+)?",
    r"(?:sing|dance|act|paint|perform|row|swim|run|climb|skate|fence|box|shoot) (?:in|with|at|for) (?:an?"
    rf"|the|my|our) (?!(?:corner|circle|past|way|future|shower|rain|dark|hope|best)\b){_REST}",
    r"(?:read|watch|listen to) (?:a lot of|lots of|mostly|mainly|only|tons of|loads of|nothing but|way too"
    rf" much|too much) (?!(?:emails?|mistakes|errors|messages|docs|logs|reports|code|this|that|it|you)\b){_REST}",
)
"""Acts that are a habit whenever they are done."""
ABSTENTION: Final = r"(?:don['’]?t|do not|never) (?:(?:even|ever|really|actually) )?(?:smoke|drink|vape|gamble)"
OFTEN_ACTS: Final[tuple[str, ...]] = (rf"{_HOBBIES} {_REST}", rf"{_USUAL} {_REST}")
"""Acts that are a habit with a word of how often."""
OFTEN: Final = _OFTEN
EVERY: Final = _EVERY
SELVES: Final = any_of(
    listed("""
    night owl, early bird, morning person, night person, homebody, bookworm, couch potato, gym rat, foodie, fussy eater, picky eater,
    introvert, extrovert, hoarder, shopaholic, workaholic, chocoholic, creature of habit,
    people person, film buff, history buff, petrolhead, music nerd, stickler for *, hugger, indoor person, outdoor person,
    outdoorsy person, snacker, grazer, social smoker, non-smoker, smoker, ex-smoker, list maker, minimalist
""")
)
"""Nouns that say what somebody usually does."""
TRADE_ACTS: Final = (
    r"(?:clean (?:offices|houses|windows|hotel rooms|rooms|schools|trains|pools|buses|flats|toilets|swimming pools)"
    r"|(?:fix|repair|service|mend) (?:boilers|cars|bikes|phones|computers|laptops|watches|clocks|shoes|roofs"
    r"|lifts|elevators|fridges|washing machines|planes|aircraft|trucks|tractors|motorbikes|engines|pipes"
    r"|trains|trams|instruments|guitars|pianos)"
    r"|sell (?:insurance|cars|houses|phones|shoes|software|flowers|fish|tickets|furniture|clothes|ice cream"
    r"|fruit|fruit and veg|carpets|kitchens|advertising|ad space|real estate|property|books|bread|solar"
    r" panels|wine)"
    r"|deliver (?:parcels|post|mail|pizzas?|food|groceries|newspapers|packages|babies|furniture|milk|letters)"
    r"|(?:stack|fill|restock) shelves|cut (?:hair|grass|glass|keys|stone)|do (?:the )?(?:nails|hair|makeup"
    r"|make-up|eyebrows|lashes|tattoos|payroll|admin|books|data entry|security|it support|tech support|bookkeeping"
    r"|marketing|accounts)"
    r"|lay (?:bricks|floors|tiles|carpets|pipes|cables|tarmac)|(?:install|fit) (?:kitchens|bathrooms|windows"
    r"|carpets|solar panels|boilers|alarms|lifts|blinds|tyres|broadband|fibre|heat pumps)"
    r"|drive (?:buses|taxis|trains|trams|lorries|trucks|ambulances|forklifts|cabs|hgvs|coaches|cranes|tractors|diggers)"
    r"|wait tables|tend bar|pull pints|wash dishes|flip burgers|(?:make|serve|pour) (?:coffees?|lattes|cocktails"
    r"|pints|lunches|school dinners) (?:at|in|for)|man the (?:phones|till|desk|front desk|door)"
    r"|build (?:houses|websites|boats|bridges|roads|apps|guitars|walls|stage sets)|design (?:logos|websites"
    r"|clothes|buildings|gardens|interiors|games|bridges|shoes|apps|jewellery)"
    r"|write (?:code|software|ad copy|grant applications|manuals|obituaries)|groom dogs|train (?:dogs|horses"
    r"|guide dogs|nurses|teachers)|shoe horses|milk cows|shear sheep|(?:farm|grow|raise) (?:sheep|cattle"
    r"|barley|wheat|potatoes|pigs|beef|dairy|apples|vegetables)"
    r"|look after (?:the elderly|elderly people|patients|old people|other people['’]s (?:kids|children))"
    r"|mind (?:children|kids)|(?:answer|handle) (?:phones|calls|complaints|customer calls)|process (?:claims"
    r"|invoices|orders|refunds|applications)"
    r"|(?:pack|pick) (?:boxes|orders|fruit|strawberries|apples|grapes|parcels)|(?:teach|tutor|lecture) "
    r"(?:in|at) (?:a|an|the) [a-z]+|empty (?:bins|the bins)|(?:guard|patrol) (?:a|the) [a-z]+|stuff envelopes"
    r"|enter data|test (?:software|games|apps)"
    r"|(?:skipper|captain|crew|pilot) an? (?:trawler|ferry|boat|yacht|tug|tugboat|plane|helicopter|barge|freighter|tanker)"
    r"|manage (?:a team|people|projects|property|hotels|social media|events)|run (?:the kitchen|the bar|the front desk|a team of))"
)
"""Acts that people do for money."""
