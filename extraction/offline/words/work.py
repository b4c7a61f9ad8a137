"""Words of statements about work and studies."""

from typing import Final

from extraction.offline.grammar.patterns import listed

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
"""Nouns for the place where one works."""
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
NO_WORKPLACES: Final = listed("""
    garden, morning, mornings, evening, evenings, afternoon, afternoons, night, nights, day, days, weekend, weekends, week, month,
    year, summer, winter, moment, time, dark, background, rain, cold, heat, sun, shade, same, team, way, future, past, end,
    living, money, fun, best, bit, while, lot, project, projects, problem, report, thesis, essay, song, book, code, plan,
    solution, hurry, rush, bubble, vacuum, group, groups, good, kitchen table, table, sofa, bed, train, living room, pressure,
    noise, zone, people, person, guy, man, woman, hours, hour, idiot
""")
"""After "I work in the", they name no employer and no place of work."""
SURE_SECTORS: Final = listed("""
    sales, marketing, finance, logistics, insurance, hr, human resources, banking, real estate, construction, retail, advertising,
    publishing, consulting, hospitality, healthcare, software, tech, procurement, catering, customer service
""")
"""Follow "I'm in"."""
WORKING_TIMES: Final = listed("""
    offshore, abroad, overseas, locally,
    full-time, part-time, remote, nights, night shifts, days, day shifts, shifts, weekends, mornings, evenings, here, there, from home,
    remotely, mostly
""")
"""When and where one works, which is no part of the work's name."""
TRADES_AS_ACTS: Final = listed("""
    paint, draw, write, teach, cook, bake, dance, sing, sew, weld, drive, translate, interpret, code, program, farm, fish, garden, tattoo,
    illustrate, knit, design, act, edit, proofread, tutor, coach, compose, sculpt, carve, consult, freelance, busk, weave, brew,
    photograph,
    transcribe, cut hair, take photos, make music, fix cars, fix things, sail, fly, mow lawns, babysit, clean, farm sheep
""")
"""Verbs before "for a living"; any other may be a joke: "I nap for a living"."""
VEHICLES: Final = listed("""
    bus, taxi, cab, truck, lorry, tram, train, ambulance, forklift, delivery van, snow plough, snowplough, snowplow, minibus, hearse,
    garbage truck, coach, tanker, tow truck, limousine, combine harvester, rickshaw, digger, excavator, ferry
""")
"""Vehicles that one drives for a living."""
PRESENT_ACTS: Final = listed("""
    i'm, i am, i have, i've, i need, i see, i know, i get, i work, i use, i want, i can, i often, i always, i usually, i spend, i
    travel, i deal with, i do, i write, i meet, i read, my days, my hours, my job, my work
""")
"""Follow "as a nurse" if the writer is one."""
JUDGING: Final = listed("seems, sounds, looks, feels, requires, means, pays, involves, must, can, gets, makes, takes, isn't, appears")
"""After "working as a pilot", they make it a subject that may be about anybody."""
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
SCHOOL_LEVELS: Final = listed("""
    kindergarten, kindergarteners, kindergartners, primary school, primary, elementary school, elementary, middle school,
    high school, secondary
    school, preschool, pre-school, pre-k, reception, nursery, sixth form, sixth-formers, toddlers, infants, special ed, special education,
    special needs, freshmen, sophomores, undergraduates, undergrads, a-level, gcse, juniors, seniors, evening classes, night school
""")
"""After "I teach", they name whom one teaches."""
UNTAUGHT: Final = listed("""
    my, him, her, them, you, myself, people, the, a, kids, kid, us, how, old, in, at, for, on, part-time, this, it
""")
"""After "I teach", they name no subject."""
DEGREE_COURSES: Final = listed("""
    phd, ph.d, doctorate, doctoral degree, master, masters, master's, msc, mba, bachelor, bachelors, bachelor's, bsc, apprenticeship,
    traineeship
""")
"""What one does "in" a subject: "a PhD in physics"."""
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
WAYS_OF_LEARNING: Final = listed("""
    pictures, diagrams, drawings, examples, worked examples, videos, stories, charts, graphs, flashcards, practice, practical work,
    experiments,
    songs, games, quizzes, analogies, real examples, real life examples, colours, colors, mind maps, demonstrations, visuals
""")
"""By which somebody learns."""
