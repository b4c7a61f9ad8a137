"""The word classes of plain statements. To teach the extractor a word, add it to its list."""

from typing import Final

from extraction.offline.patterns import listed

ADVERBS: Final = listed("""
    now, currently, still, just, recently, finally, also, actually, already, really, rly, legit, lowkey, truly, mostly, officially,
    happily, permanently, always, absolutely, quite, very much, honestly, do, both, usually, generally, particularly, especially,
    even, simply, lately, mainly, only, personally, all, both, totally, genuinely, definitely, sadly, luckily, proudly, often,
    normally, sincerely, deeply, secretly, ever, since, so, hereby, kinda, too, pretty much, as of today, these days, right now, at
    the moment, full-time, part-time, full time, part time
""")
"""May stand after the subject and the verb of a statement."""
INTENSIFIERS: Final = listed("""
    super, very, severely, highly, mildly, deathly, slightly, a bit, extremely, badly, terribly, seriously, strongly, really,
    horribly, dangerously, violently, massively, quite, pretty, ridiculously, a little, a tiny bit, wildly, fatally, hugely, mortally
""")
DEGREES: Final = listed("""
    severe, bad, serious, mild, strong, life-threatening, terrible, slight, nasty, massive, huge, big, great, real, total, diagnosed,
    known, confirmed, major, minor, horrible, awful, small, pretty bad, pretty severe, really bad, very bad, dangerous
""")
FERVOUR: Final = listed("""
    total, complete, utter, true, devoted, keen, avid, lifelong, passionate, serious, particularly, really, much of a, too, very,
    overly, exactly, absolute, die-hard
""")
ADMIRERS: Final = listed("""
    obsessed with, hooked on, fan of, lover of, fond of, into, keen on, a fan of, crazy about, passionate about, mad about, partial
    to, nuts about, devoted to, enthusiastic about, big on, a devotee of
""")
"""Follow "I'm" before what one likes."""
LIKING: Final = listed("""
    devour, binge on, binge-watch, crave, relish, savour, savor, worship, dig, love, like, enjoy, prefer, adore, luv, am fond of,
    cherish, treasure, have a soft spot for, have a weakness for, have a thing for, can't get enough of, am crazy about,
    take pleasure in, swear by
""")
DISLIKING: Final = listed("""
    hate, dislike, detest, loathe, despise, abhor, can't stand, cannot stand, can not stand, can't bear, cannot bear, can't abide,
    can't stomach, cannot stomach, can't tolerate, don't like, do not like, don't enjoy, do not enjoy, don't really like, don't much
    like, don't really enjoy, don't care for, do not care for, don't care much for, don't love, never liked, have never liked, really
    can't stand, never enjoy, resent, really don't like, can't deal with, have a strong dislike for, have no time for, don't
    particularly like, don't especially like, am not a fan of, am no fan of, am not into
""")
AVOIDED_ACTS: Final = listed("watch, listen to, follow, celebrate, eat, drink, wear, buy, smoke, consume, touch, cook with, take")
DIETS: Final = listed("""
    veg, veggie, vegan, vegetarian, pescatarian, pescetarian, flexitarian, ovo-vegetarian, lacto-vegetarian, fruitarian,
    lactose-intolerant, gluten-intolerant, fructose-intolerant, histamine-intolerant, dairy-intolerant, coeliac, celiac, teetotal, a
    teetotaller, diabetic, plant-based, gluten-free, dairy-free, lactose-free, sugar-free, keto, paleo, raw vegan
""")
REGIMES: Final = listed("""
    vegan, vegetarian, pescatarian, plant-based, gluten-free, dairy-free, lactose-free, sugar-free, low-carb, low-salt, low-sodium,
    low-fat, low-fodmap, keto, ketogenic, paleo, kosher, halal, mediterranean, raw food, macrobiotic, diabetic, meat-free, nut-free,
    egg-free, soy-free, whole-food, whole-foods
""")
DIET_DEGREES: Final = listed("""
    strict, pure, lifelong, committed, full-time, practising, practicing, dedicated, proud, long-time, total, complete, hundred
    percent, 100%, fully, completely, strictly, mostly, type 1, type 2, type one, type two, devout, ethical, entirely
""")
SETTLEMENTS: Final = listed("""
    village, town, city, place, hamlet, island, suburb, district, neighbourhood, neighborhood, municipality, commune, port
""")
DWELLINGS: Final = listed("""
    home, house, flat, apartment, place, cottage, studio, farm, farmhouse, room, houseboat, condo, bungalow, base, address, loft,
    townhouse, studio flat, caravan, cabin, maisonette, bedsit, croft, narrowboat, yurt, chalet, villa, digs, barn, smallholding,
    barge, dorm, dorm room
""")
HOUSEHOLD: Final = listed("""
    over, up, down, back, way, right, deep, here, over here, together, alone, by myself, on my own, full-time, part-time, happily, up
    north, down south, abroad, out
""")
BESIDE: Final = listed("""
    across, across from, overlooking, down by, in, on, at, above, with, near, up, behind, next to, between, by, beside, close to,
    opposite, under, along, off, over, below, just off, right by
""")
"""Prepositions of where in a town one lives."""
NO_SURROUNDINGS: Final = listed("""
    if, that, when, who, because, until, i, we, he, she, hope, fear, dream, dreams, head, mind, heart
""")
"""Words that make "in ..." after "I live" another clause or a state of mind."""
PLACE_PREPOSITIONS: Final = listed("""
    in, at, on, out of
""")
DIRECTIONS: Final = listed("back, over, here, out, down, up, away, house, home, again, across, all the way")
PARTS_OF_TOWNS: Final = listed("""
    north, south, east, west, centre, center, outskirts, suburb, suburbs, old town, middle, edge, heart, countryside, area, region,
    hill, hills, part, side
""")
SECOND_HOMES: Final = listed("holiday, summer, second, weekend, vacation, rental, spare")
WORKING_TIMES: Final = listed("""
    offshore, abroad, overseas, locally,
    full-time, part-time, remote, nights, night shifts, days, day shifts, shifts, weekends, mornings, evenings, here, there, from home,
    remotely, mostly
""")
PEOPLE_WHO_NAME: Final = listed("""
    everyone, everybody, people, most people, friends, my friends, family, my family, all my friends, my mates, mates, folks, most
    folks, they all, my colleagues, colleagues, everyone here, everybody here, all, most of my friends, my close friends, the family,
    folks around here, my team
""")
PRESENT_ACTS: Final = listed("""
    i'm, i am, i have, i've, i need, i see, i know, i get, i work, i use, i want, i can, i often, i always, i usually, i spend, i
    travel, i deal with, i do, i write, i meet, i read, my days, my hours, my job, my work
""")
"""Follow "as a nurse" if the writer is one."""
UNTAUGHT: Final = listed("""
    my, him, her, them, you, myself, people, the, a, kids, kid, us, how, old, in, at, for, on, part-time, this, it
""")
SCHOOL_LEVELS: Final = listed("""
    kindergarten, kindergarteners, kindergartners, primary school, primary, elementary school, elementary, middle school,
    high school, secondary
    school, preschool, pre-school, pre-k, reception, nursery, sixth form, sixth-formers, toddlers, infants, special ed, special education,
    special needs, freshmen, sophomores, undergraduates, undergrads, a-level, gcse, juniors, seniors, evening classes, night school
""")
PRIVATE_OCCASIONS: Final = listed("""
    party, parties, wedding, weddings, table, moment, weekend, game, games, festival, barbecue, bbq, dinner, end, time, family,
    house, household,
    home, group, relationship, gathering, gatherings, event, karaoke, costume party, movie, film, play, show, story, photo,
    picture, world, class,
    team, life, road trip, trip, meme, joke
""")
"""Where a role after "the" is none of work: "the clown at every party"."""
ROLES_OF_AN_EVENING: Final = listed(
    "host, captain, cook, lead, judge, guard, guide, model, officer, head, coach, boss, principal, driver,"
    " master, marine, minister, keeper, rep"
)
"""Without an article they name a part in a game or an evening: "I'm driver tonight"."""
TRADES_AS_ACTS: Final = listed("""
    paint, draw, write, teach, cook, bake, dance, sing, sew, weld, drive, translate, interpret, code, program, farm, fish, garden, tattoo,
    illustrate, knit, design, act, edit, proofread, tutor, coach, compose, sculpt, carve, consult, freelance, busk, weave, brew,
    photograph,
    transcribe, cut hair, take photos, make music, fix cars, fix things, sail, fly, mow lawns, babysit, clean, farm sheep
""")
"""Verbs before "for a living"; any other may be a joke: "I nap for a living"."""
DEGREE_COURSES: Final = listed("""
    phd, ph.d, doctorate, doctoral degree, master, masters, master's, msc, mba, bachelor, bachelors, bachelor's, bsc, apprenticeship,
    traineeship
""")
SUBJECTS: Final = listed("""
    medicine, law, architecture, history, philosophy, chemistry, maths, math, art history, fine arts, music, linguistics, literature,
    nursing, pharmacy, education, computer science, political science, social work, business, business administration, finance, design,
    graphic design, journalism, theology, dentistry, veterinary medicine, statistics, classics, law and politics, agriculture, forestry,
    social sciences, anthropology, environmental science, data science, marketing, accounting, tourism, vet med, med, comp sci, cs, econ,
    psych, poli sci, mech eng, civil eng, eng lit, english lit, fine art, fashion, drama, film studies, media studies, geography,
    physics, midwifery, physio, physiotherapy, optometry, sports science, english, french, german, spanish, japanese, arabic, russian,
    latin, religious studies, criminology, international relations, public health, food science
""")
"""Subjects of a course of studies."""
SECTORS: Final = listed("""
    finance, it support, tech support, customer care, operations, insurance, logistics, retail, it, tech, marketing, sales, hr,
    human resources, healthcare, health care, education, hospitality, construction, advertising, publishing, real estate, banking,
    consulting, catering, film, television, tv, radio, agriculture, forestry, law enforcement, data entry, bookkeeping, teaching,
    customer service, customer support, public relations, pr, journalism, manufacturing, shipping, tourism, accounting, biotech,
    pharma, pharmaceuticals, research, academia, fashion, aviation, mining, procurement, quality assurance, quality control, qa,
    software, software development, web development, data science, cybersecurity, telecoms, telecommunications, social care, social
    work, elderly care, childcare, property management, facility management, supply chain, interior design, graphic design,
    emergency medicine, nursing, palliative care, geriatrics, oncology, local government, government, public health, urban planning,
    renewable energy, energy, archives, conservation, theatre, music, event planning, events, gastronomy, textiles, carpentry,
    fintech, compliance, audit, payroll
""")
"""Follow "I work in"."""
WORKPLACES: Final = listed("""
    petrol station, gas station, airport, train station, harbour, art gallery, gallery, fish factory, car wash, cinema, aquarium,
    planetarium, company, firm, agency, store, plant, centre, center, factory outlet, hospital ward, observatory, courthouse, town hall,
    fire station, police station, radio station, tech firm, design studio, bindery, creche, crèche, day care, daycare, casino,
    cruise ship, ski resort, spa, chip shop, chippy, delicatessen, deli, bakery, hospital, library, school, primary school, factory,
    warehouse, kitchen, shop, bookshop, bookstore, cafe, café, restaurant, hotel, bank, museum, nursery, kindergarten, pharmacy,
    laboratory, lab, brewery, winery, sawmill, shipyard, foundry, mine, quarry, vineyard, garage, bike shop, law firm, call centre,
    call center, care home, nursing home, hospice, zoo, garden centre, supermarket, butcher's, florist's, hair salon, salon, prison,
    post office, dental practice, vet's, clinic, vet clinic, veterinary clinic, bar, pub, steel mill, mill, dairy, bakeshop, patisserie,
    distillery, print shop, flower shop, tailor's, workshop, carpentry workshop, studio, architecture firm, theatre, recording studio,
    gym, start-up, startup, university, publishing house, tech company, hardware store, toy shop, cheese shop, food truck, fish market,
    boatyard, farm, guest house, guesthouse, hostel, tattoo parlour, tea house, yoga studio, dance school, repair shop, animal shelter,
    joinery, animal rescue, sanctuary, smithy, pottery, print works, ironworks, steelworks, cannery, creamery, bottling plant, depot,
    yard, ward, surgery, docks, abattoir, laundry, launderette, dry cleaner's, takeaway, canteen, leisure centre, lido, stables, kennels,
    cattery, tannery, refinery, sorting office, recycling centre, power station, data centre, hangar, market stall, bookie's, bookies,
    off-licence, chemist's, optician's, fish counter, deli counter, counter, tills, checkout, checkouts, front desk, service desk,
    it desk, shop floor, help desk, helpdesk, switchboard, packing line, assembly line, production line, night desk, box office
""")
RELATIVES: Final = listed("""
    wife, husband, hubby, wifey, bestie, spouse, partner, girlfriend, boyfriend, fiancé, fiancée, fiance, fiancee, sister, brother,
    mother, father, mom, mum, dad, son, daughter, grandma, grandmother, grandpa, grandfather, grandson, granddaughter, grandchild, gran,
    granny, nan, nana, grandad, granddad, aunt, auntie, uncle, cousin, niece, nephew, mother-in-law, father-in-law, sister-in-law,
    brother-in-law, son-in-law, daughter-in-law, stepson, stepdaughter, stepmother, stepmum, stepmom, stepfather, stepdad, stepsister,
    stepbrother, half-sister, half-brother, godson, goddaughter, godmother, godfather, great-aunt, great-uncle, great-grandmother,
    twin sister, twin brother, twin, kid, child, baby, toddler, best friend, friend, boss, manager, roommate, flatmate, housemate,
    neighbour, neighbor, colleague, coworker, co-worker, teammate, classmate, mentor, supervisor, best mate, mate, baby boy, baby girl,
    eldest, youngest, firstborn, foster son, foster daughter, baby sister, baby brother, bandmate, landlady, landlord, little girl,
    little boy, bro, sis, childhood friend, pen pal, business partner, bf, gf, roomie, other half, better half, ex-husband, ex-wife,
    ex-boyfriend, ex-girlfriend, penpal, besty, bsf, sibling, stepsibling, half-sibling, co-parent, crush, housemate, twinnie, mam, mama,
    papa, nanna, gramps, great-niece, great-nephew
""")
PETS: Final = listed("""
    frenchie, french bulldog, staffy, pomeranian, pom, pittie, pitbull, pit bull, doxie, sausage dog, bernese, bernese mountain dog,
    bichon, bichon frise, vizsla, weimaraner, chow chow, rottie, gsd, goldendoodle, sheltie, shar pei, basset hound, bloodhound,
    chocolate lab, black lab, yellow lab, golden lab, papillon, pekingese, pekinese, puggle, cavachon, sprocker, burmese, persian cat,
    bengal cat, british shorthair, lurcher, spitz, shiba, akita, setter, pointer, mastiff, rottweiler, dobermann, doberman, schnauzer,
    shih tzu, maltese, cockapoo, cavapoo, labradoodle, mutt, mongrel, staffie, jack russell, westie, yorkie, samoyed, malamute,
    dalmatian, great dane, saint bernard, ragdoll, sphynx, tomcat, tom, moggy, heifer, cow, ram, ewe, crow, owl, hawk, falcon, cichlid,
    koi, salamander, newt, frog, toad, skink, chameleon, degu, sugar glider, mouse, therapy dog, guide dog, service dog, kitty, doggo,
    pup, cob, foal, filly, colt, dog, cat, puppy, kitten, horse, pony, donkey, rabbit, bunny, parrot, budgie, parakeet, canary,
    cockatiel, cockatoo, hamster, guinea pig, gerbil, gecko, tortoise, turtle, terrapin, goldfish, ferret, iguana, snake, lizard, rat,
    mouse, chinchilla, bearded dragon, axolotl, betta, mare, gelding, goat, hen, chicken, rooster, duck, goose, pig, sheep, lamb,
    hedgehog, corn snake, tarantula, greyhound, labrador, poodle, beagle, terrier, dachshund, corgi, spaniel, retriever,
    golden retriever, border collie, collie, husky, german shepherd, pug, bulldog, chihuahua, whippet, tabby, maine coon, siamese cat,
    rescue dog, macaw, cockerel, budgerigar, lorikeet, conure, african grey, mynah, raven, jackdaw, quail, peacock, wolfhound, deerhound,
    saluki, basenji, sheepdog, hound, pooch, calf, bull, ox, hermit crab, praying mantis, scorpion, fish, angelfish, bearded lizard,
    monitor lizard, tortie, calico, siamese, moggie, leveret, pet, python, llama, alpaca, stick insect, lovebird, mule, stallion, finch,
    pigeon
""")
SHORT_BREEDS: Final = listed("lab, golden, boxer, dane, springer, shepherd, heeler, aussie, cocker, cavalier, bengal, persian")
"""Short names of breeds, which are other words, too."""
MANY_RELATIVES: Final = listed("""
    sons, daughters, kids, children, boys, girls, twins, brothers, sisters, cousins, nieces, nephews, grandchildren, grandkids, dogs,
    cats, puppies, kittens, horses, ponies, donkeys, rabbits, guinea pigs, hamsters, budgies, parrots, goats, hens, chickens, rats,
    gerbils, ferrets, geckos, friends, best friends, flatmates, roommates, housemates, colleagues, turtles, tortoises, goldfish,
    canaries, alpacas, ducks, parents, grandparents, in-laws, grandsons, granddaughters, stepkids, stepchildren, stepsons, stepdaughters,
    lads, girls, godchildren, pups, lodgers, neighbours, neighbors, teammates, triplets, coworkers, co-workers, bandmates, aunts, uncles,
    childs, babies, lizards, snakes, fish, tortoises, pigs, sheep, lambs, greyhounds, spaniels, terriers
""")
WHOSE: Final = listed("""
    lil, lil', li'l,
    baby, twin, dear, little baby, older, younger, little, big, elder, twin, eldest, youngest, new, dear, oldest, middle, baby, old,
    wee, lovely, beautiful, sweet, only, first, rescue, black, white, ginger, grumpy, beloved, crazy, adorable, long-haired, tiny,
    fat, fluffy, pet, poor, clever, favourite, favorite, one-eyed
""")
"""May stand between "my" and a relation."""
STOPS: Final = listed("""
    and, or, but, so, because, cause, cuz, cos, which, since, for, when, while, with, without, on, until, till, from, if, at, who,
    where, though, although, as, than, that, in, near, by, after, before, during, mostly, mainly, now, these, lately, too, also,
    please, anyway, however, except, unless, is, are, was, were, me, him, her, them, us, you, every, more, most, right, over, again,
    especially, instead, any, to, all, half, about, whereas, whenever, despite, due, even, just, like, plus, rather, via, then,
    outside, inside, ever, either, always, never, yet, day, today, tonight, has, have, had, whatever, already, only, made
""")
"""Words that end a noun phrase."""
ADJUNCTS: Final = listed("""
    living, working, based, atm, rn, w, bc, coz, tho, imo, tbf, from, specializing, specialising, trying, looking, learning, who, i,
    my, across, behind, next, close, up, down, here, there, there's, btw, lol, tbh, fyi, pls, plz, ty, thx, thanks, cheers,
    together, out, online, not, last, this, back, by the way, full-time, full time, part-time, part time, actually, currently,
    recently, haha, hehe, ok, okay, yeah, yes, nowadays, myself, around, away, alone, permanently, no matter, btw, imo, ngl, ever,
    we, we're, i'm, what, any advice, can, could, do, how, between
""")
"""Words that begin something else after a value."""
NO_NAMES: Final = listed("""
    whatever, anything, nothing, depends, idk, dunno, lucky, daddy, sir, madam, captain, boss, urgent, stupid, google, netflix, chatgpt,
    alexa, siri, jesus, claude, spotify, amazon, instagram, wikipedia, youtube, monday, tuesday, wednesday, thursday, friday, saturday,
    sunday, mondays, tuesdays, wednesdays, thursdays, fridays, saturdays, sundays, today, tomorrow, yesterday, christmas, easter,
    january, february, march, april, may, june, july, august, september, october, november, december, i, the, my, and, but, who, he, she,
    it, is, was, has, will you, when, if, or, crazy, old, maybe, back, later, god, said, says, told, went, had, does, did, are, were,
    would, could, can, also, just, mr, mrs, ms, mud, english, german, french, spanish, dutch, irish, italian, mom, dad, mum, then, now,
    so, not, no, yes, ok, okay, lol, here, there, what, why, how, where, which, that, this, you, we, they, ishmael, batman,
    inigo montoya, sherlock, slim shady, bond, james bond, luka, jeff, please, help, called, named, calls, asked, wants, knows, likes
""")
"""Capitalised words that are no names of people; months in a full form may be."""
NO_INTRODUCTIONS: Final = listed("""
    urgent, important, spam, test, looking, vegan, vegetarian, back, here, new, sure, sorry, fine, good, great, happy, sad, tired,
    hungry, bored, lost, ready, curious, stuck, confused, glad, late, single, married, pregnant, sick, ill, busy, free, retired, ok,
    okay, well, not, so, very, really, just, still, currently, on, in, at, from, allergic, christian, muslim, jewish, hindu, buddhist,
    catholic, protestant, divorced, engaged, widowed, gay, trans, deaf, autistic, american, european, asian, african, british,
    scottish, welsh, diabetic, coeliac, celiac, a, an, the, your, my, going, thinking, awake, alone, home, out, off, done
""")
"""Words after "I'm" that introduce nobody."""
LOWER_CASE_NO_NAMES: Final = listed("""
    long, short, unusual, common, rare, boring, weird, hard, difficult, irrelevant, secret, private, taken, wrong, correct, missing,
    spelled, spelt, pronounced, not, on, in, a, an, the, my, your, mud, too, so, also, very, really, quite, for, from, of, easy,
    unique, foreign, nobody, nothing, none, what, it, that, this, old, maybe, crazy, later, back, tomorrow, today, when, if, at, by,
    as, anytime, whenever, now, again, please, soon, stupid, paranoid, lazy, whatever, ishmael, unimportant, fine, hyphenated, double,
    everywhere, here, there, silly, cute, nice, pretty, only, mentioned
""")
"""Words after "my name is" or "call me" that are no names, for writers who use no capitals."""
POINTERS: Final = listed("""
    not, our, my life, my luck, up, still, there, straight, to, it, this, that, these, those, you, your, yours, him, her, his, hers,
    them, their, us, me, how, what, when, where, why, who, nothing, everything, anything, something, myself, yourself, the way, the
    idea, the fact, the thought, the part, the bit, the new, the one, the ones, the concept, if, whether, both of, all of, all the,
    all, my new, that's, its, one, and, or, as, more, most, better, doing, going, seeing, hearing, talking to you, talking with you,
    talking about, chatting to you, chatting with you, each, every, another, such
""")
"""After "I like", they point to something in the conversation."""
NO_COMPLEMENTS: Final = listed("""
    at the moment, at all, at least, at this point, in general, in fact, in particular, in my opinion, in it, in that, in this, in
    our conversation, on the other hand, on second thought, in all honesty, from now on, about it, about this, about that, by now,
    in return, with this, with that, with you, by the way, with a passion, in the meantime, in a while, at present, in advance, on
    weekdays, over here, over there, over coffee, over tea, over any
""")
"""Phrases after what one likes that do not belong to it."""
FOODS: Final = listed("""
    dairy, gluten, lactose, nuts, peanuts, eggs, wheat, soy, soya, shellfish, seafood, sugar, caffeine, alcohol, milk, cheese,
    cream, butter, meat, pork, beef, chicken, fish, onion, onions, garlic, tomatoes, chocolate, coffee, bread, yeast, salt, spicy
    food, fried food, raw fish, red meat, almonds, walnuts, cashews, sesame, citrus, mushrooms
""")
"""Foods that one cannot "have" for good."""
TALKING: Final = listed("""
    think, say, believe, know, see, hear, imagine, pretend, be, have, get, point, call, joke, tell, do, make, go, just, take, try,
    use, feel, keep, ask, thank, add, know, start, hope
""")
"""After "I like to", they state no taste."""
JUDGING: Final = listed("seems, sounds, looks, feels, requires, means, pays, involves, must, can, gets, makes, takes, isn't, appears")
"""After "working as a pilot", they make it a subject that may be about anybody."""
VEHICLES: Final = listed("""
    bus, taxi, cab, truck, lorry, tram, train, ambulance, forklift, delivery van, snow plough, snowplough, snowplow, minibus, hearse,
    garbage truck, coach, tanker, tow truck, limousine, combine harvester, rickshaw, digger, excavator, ferry
""")
"""Vehicles that one drives for a living."""
REPELLING: Final = listed("""
    terrify, terrifies, scare, scares, disgust, disgusts, irritate, irritates, frighten, frightens, repulse, repulses, creep, creeps,
    nauseate, nauseates
""")
REPELLING_PHRASES: Final = listed("""
    freak me out, freaks me out, make me gag, makes me gag, make me sick, makes me sick, give me the creeps, gives me the creeps,
    gross me out, grosses me out, creep me out, creeps me out, turn my stomach, turns my stomach, drive me mad, drives me mad,
    drive me crazy, drives me crazy, drive me nuts, drives me nuts, drive me insane, drives me insane, drive me up the wall,
    drives me up the wall, get on my nerves, gets on my nerves, turn me off, turns me off, put me off, puts me off
""")
SURE_SECTORS: Final = listed("""
    sales, marketing, finance, logistics, insurance, hr, human resources, banking, real estate, construction, retail, advertising,
    publishing, consulting, hospitality, healthcare, software, tech, procurement, catering, customer service
""")
"""Follow "I'm in"."""
PERSON_OF: Final = listed("""
    cat, dog, tea, coffee, beach, mountain, winter, summer, autumn, spring, book, plant, horse, bird, city, country, whisky, wine,
    beer, chocolate, cheese, sea, island, train
""")
"""Words before "person" that state a taste: "a cat person"."""
UNAVOIDED: Final = listed("""
    it, that, this, them, much, enough, anything, any thing, a lot, alone, here, there, to, out, as, so, like, well, in, at, on,
    before, after, when, until, if, my, your, the, a, an, up, with, for, properly, right, healthily, healthy, this much, these, those,
    any more, anymore, more, less, too, very, often, together, yet, now, time, all, half, one, another, someone, people, you, me, him,
    her, us, eye, eyes, care, advantage, part, place, no, long, photos, pictures, risks, questions, conflict, conflicts, another bite
""")
"""After a verb of avoidance, they name no thing that one always avoids."""
NO_ALLERGENS: Final = listed("""
    fools, bigots, bigotry, racism, racists, hypocrisy, hypocrites, rudeness, slackers, mistakes, lateness, cruelty, dishonesty,
    gossip, noise,
    whining, injustice, incompetence, laziness, others, other people, opinions,
    anything, everything, nothing, it, them, that, this, you, small, bad, stupid, life, any, all, your, my, his, her, the idea, the
    word, being, mornings, morning, mondays, monday, work, working, people, stupidity, commitment, meetings, bullshit, drama,
    responsibility, exercise, effort, paying, homework, money, love, fun, nonsense, early, hard, boredom, idiots, bad, losing,
    waiting, change, feelings, cardio, deadlines, criticism, housework, cleaning, maths, mathematics, common sense, small talk,
    silence, which, what, getting, doing, studying, manual labour, manual labor, taxes, bills, adulthood, adulting, happiness,
    success, lies, liars, politics, rules, excel, powerpoint, spreadsheets, cheap
""")
"""After "allergic to", they make an idiom."""
WAYS_OF_LEARNING: Final = listed("""
    pictures, diagrams, drawings, examples, worked examples, videos, stories, charts, graphs, flashcards, practice, practical work,
    experiments,
    songs, games, quizzes, analogies, real examples, real life examples, colours, colors, mind maps, demonstrations, visuals
""")
"""By which somebody learns."""
ROUTINES: Final = listed("""
    cycle, bike, swim, run, jog, hike, walk, row, meditate, train, garden, bake, cook, journal, nap, climb, ski, surf, sail, fish, read,
    stretch, do yoga, practise yoga, practice yoga, do pilates, lift weights, work out, get up, wake up, volunteer, practise, practice,
    paint, go to the gym, go to church, go to yoga, take the dog out, walk the dog, call my mother, call my mum, call my mom,
    visit my parents, go for a run, go for a walk, go for a swim, pray, go to mass, go to the mosque, go to temple, go to choir,
    go to synagogue, take a cold shower
""")
"""Acts that one may do regularly."""
NO_ROUTINES: Final = listed("""
        if, when, because, but, and, away, out of, into, late, you, this, that, it, them, when i, for you, your, the idea, through,
    over, eggshells, thin ice, the line
""")
MATERIALS: Final = listed("""
        suede, leather, fur, fake fur, wool, polyester, nylon, fleece, viscose, acrylic, silk, down, feathers, plastic, latex,
    velvet, mohair,
    angora, cashmere, linen, denim, lace, sequins, glitter, parabens, sulphates, sulfates, silicones, fragrance, perfume, palm oil,
        microplastics, rayon, elastane, spandex, lycra, rubber, corduroy, tweed, synthetics, synthetic fabrics, animal products,
    high heels, heels
""")
"""Materials and features of goods that one may refuse."""
