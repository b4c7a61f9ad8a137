"""Nouns of what people have tastes for: foods, drinks, pastimes, music, weather. They tell "a chips man" from "a family man"."""

from typing import Final

from extraction.offline.grammar.patterns import listed
from extraction.offline.words.tastes import FOODS

_FOODS: Final = listed("""
    anchovies, apples, apricots, artichokes, asparagus, aubergine, eggplant, avocado, avocados, bacon, bananas, barbecue, basil,
    beans, beetroot,
    berries, biryani, biscuits, blue cheese, blueberries, brie, broccoli, brussels sprouts, sprouts, burgers, cabbage, cake, cakes, candy,
    capers, carrots, cauliflower, caviar, celery, cereal, cheesecake, cherries, chillies, chilli, chips, crisps, chutney, cilantro,
    coriander,
    cinnamon, coconut, cookies, courgettes, courgette, couscous, crab, cranberries, croissants, cucumber, cucumbers, curry, curries,
    custard,
    dates, dill, doughnuts, donuts, dumplings, fast food, fennel, feta, figs, fries, fruit, game, ginger, goat cheese, goats cheese,
    grapefruit,
    grapes, gravy, ham, haggis, hazelnuts, herring, honey, horseradish, hot sauce, hummus, ice cream, jam, jelly, kale, kebab,
    kebabs, ketchup,
    kidney, kimchi, kiwi, lamb, lasagne, lasagna, leeks, lemon, lentils, lettuce, licorice, liquorice, liver, lobster, mackerel, mango,
    mangoes, marmalade, marmite, vegemite, marzipan, mayo, mayonnaise, melon, mint, mussels, mustard, noodles, oats, octopus, offal, okra,
    olives, oranges, oysters, pancakes, parmesan, parsley, parsnips, pasta, pastries, pâté, peaches, pears, peas, peppers, pesto,
    pickles, pie,
    pies, pineapple, pistachio, pistachios, pizza, plums, popcorn, porridge, potatoes, prawns, pumpkin, quinoa, radishes, raisins, ramen,
    raspberries, rhubarb, rice, risotto, salad, salads, salami, salmon, sardines, sauerkraut, sausages, sausage, scallops, scones,
    seaweed,
    shrimp, snails, snacks, soup, soups, spicy, spice, spices, spinach, squid, steak, stew, strawberries, sultanas, sushi, sweet potatoes,
    sweetcorn, sweets, tacos, tapas, tempeh, tofu, toast, tripe, truffles, trout, tuna, turkey, turnips, vanilla, vinegar, waffles,
    wasabi,
    watermelon, yoghurt, yogurt, junk food, processed food, sweet stuff, spicy stuff, hot food, raw onion, carbs
""")
_DRINKS: Final = listed("""
    ale, beer, beers, bourbon, brandy, builders tea, builder's tea, cappuccino, champagne, chai, cider, cocktails, cocoa, cola, coke,
    cordial,
    decaf, earl grey, energy drinks, espresso, espressos, fizzy drinks, gin, green tea, herbal tea, hot chocolate, iced coffee,
    instant coffee,
    juice, kombucha, lager, latte, lattes, lemonade, liqueur, matcha, mead, milkshakes, mint tea, oat milk, orange juice,
    peppermint tea, pop,
    port, prosecco, red wine, rum, sherry, smoothies, soda, sparkling water, spirits, stout, tap water, tea, tequila, vodka, whiskey,
    whisky,
    white wine, wine, booze, cigarettes, cigars, tobacco, vaping, weed, drugs
""")
_PASTIMES: Final = listed("""
    acting, amateur dramatics, angling, aerobics, archery, astronomy, athletics, aquarobics, badminton, ballet, baking, ballroom,
    baseball,
    basketball, beekeeping, bingo, birding, birdwatching, board games, bouldering, bowling, bowls, boxing, bridge, calligraphy,
    camping, canoeing,
    card games, cards, cartoons, chess, choir, climbing, clubbing, coding, comics, cooking, cosplay, crafts, cricket, crime novels,
    crochet,
    crosswords, crossfit, curling, cycling, dancing, darts, diving, diy, dominoes, documentaries, drawing, drumming, embroidery, fantasy,
    fencing, fishing, first-person shooters, football, foraging, gaming, gardening, genealogy, golf, gymnastics, hiking, hockey, horror,
    horror films, horror movies, horse riding, ice skating, jigsaws, jigsaw puzzles, jogging, judo, karaoke, karate, kayaking,
    kickboxing, knitting,
    lacrosse, leatherwork, mahjong, manga, meditation, metal detecting, model trains, motorbikes, mountain biking, museums, musicals,
    mysteries,
    needlework, netball, opera, orienteering, origami, padel, painting, panto, parkour, photography, pickleball, pilates, podcasts,
    poetry, poker,
    pottery, puzzles, quilting, quizzes, reading, reality tv, riding, rom-coms, romcoms, rowing, rugby, running, sailing, sci-fi,
    science fiction,
    scrabble, scrapbooking, sculpting, sewing, shooters, shopping, singing, skateboarding, skating, sketching, skiing, skydiving, snooker,
    snorkelling, snowboarding, soaps, soccer, softball, spinning, squash, stamp collecting, strategy games, sudoku, surfing,
    swimming, table
    tennis, tai chi, tango, tennis, theatre, thrillers, trainspotting, travelling, true crime, tv, volleyball, video games,
    videogames, wakeboarding,
    walking, wild swimming, swims, weightlifting, westerns, woodwork, woodworking, wordle, wrestling, yoga, zumba, battle royales,
    platformers,
    roguelikes, farming sims, farming sim, rpgs, simulators, puzzle games, team sports, contact sports, books, audiobooks, newspapers
""")
_SOUNDS_AND_PLACES: Final = listed("""
    afrobeats, bluegrass, blues, classical music, country music, drum and bass, disco, dubstep, folk, folk music, funk, gospel,
    heavy metal,
    hip hop, hip-hop, house music, indie, jazz, k-pop, metal, motown, musical theatre, pop music, punk, r&b, rap, reggae, rock,
    salsa, ska, soul,
    swing, synthwave, techno, trance, beaches, cities, city breaks, crowds, crowded places, heights, lifts, elevators, escalators,
    spiders, snakes,
    wasps, needles, small talk, phone calls, voicemail, group chats, meetings, early mornings, late nights, early starts, lates, earlies,
    mondays, heat, humidity, rain, snow, sunshine, thunderstorms, storms, fog, cold weather, hot weather, saunas, spas, hot baths, cold
    showers, camping trips, festivals, concerts, gigs, nightclubs, clubs, pubs, parties, weddings, flying, roller coasters,
    rollercoasters,
    fairgrounds, zoos, clowns, perfume, aftershave, strong smells, loud music, loud noises, bright lights, makeup, heels, ties,
    skirts, dresses,
    skinny jeans, wool jumpers, open-plan offices, audio messages, voice notes, video calls, mountains, islands, forests, the sea,
    the gym,
    the cold, the heat, the dark, the theatre, the cinema, the opera, gyms, hospitals, motorways, long drives, road trips, trains,
    boats, ferries
""")
_SINGULAR: Final = listed("""
    cat, dog, beach, mountain, winter, summer, autumn, spring, book, plant, horse, bird, city, country, chocolate, cheese, sea,
    island, train, chip,
    burger, biscuit, egg, nut, mushroom, onion, tomato, potato, olive, berry, cookie, crisp, noodle, steak, fruit, veg, vegetable,
    film, movie,
    puzzle, board game, gym, outdoors, indoor, festival, museum, boat, bike, motorbike, garden, tv, audiobook, podcast, fish,
    farming sim, strategy game, puzzle game, hot weather, cold weather, savoury, savory, sweet tooth, oat milk, crossword, chai, pub, club
""")

_MORE: Final = listed("""
    social media, the news, dating apps, tiktok, twitter, facebook, anime, k-dramas, soap operas, sitcoms, detective novels, novels,
    crime fiction, romance novels, graphic novels, memoirs, poems, musicals, live music, vinyl, records, synths, bluegrass, folk songs,
    sea shanties, choral music, baroque music, brass bands, fado, flamenco, opera, tattoos, houseplants, cacti, succulents, roses,
    orchids, allotments, bonsai, bees, chickens, antiques, flea markets, car boot sales, charity shops, thrift shops, lego, warhammer,
    d&d, tabletop games, escape rooms, pub quizzes, pinball, arcade games, farming games, cozy games, cosy games, racing games,
    fighting games, open-world games, party games, mobas, mmos, speedruns, retro games, trains, steam trains, buses, trams, planes,
    vintage cars, classic cars, tractors, bicycles, bikes, scooters, lakes, rivers, waterfalls, sunsets, sunrises, stars, bonfires,
    fires, candles, long walks, walks, hikes, long baths, baths, naps, lie-ins, sleepovers, picnics, barbecues, brunch, sunday roasts,
    roast dinners, takeaways, street food, home cooking, leftovers, finger food, white noise, silence, peace and quiet, spreadsheets,
    lists, deadlines, paperwork, small print, pop-ups, adverts, queues, traffic, motorways, group work, presentations, public speaking,
    networking, job interviews, open offices, hot desking, night shifts, earlies, commuting, nights, injections, blood tests, blood,
    hospitals, enclosed spaces, small spaces, confined spaces, deep water, the dark, dogs, cats, birds, horses, pigeons, seagulls, moths,
    bats, mice, rats, bugs, insects, cockroaches, worms, sharks, dolls, balloons, fireworks, thunder, wool, polyester, velvet, latex,
    denim, turtlenecks, high heels, suits, uniforms, hats, sandals, crocs
""")
_DISHES: Final = listed("""
    puddings, desserts, sweet things, starters, fried things, ready meals, microwave meals, canned food, tinned food, cold cuts,
    deli meat, pig, bacon, samosas, dal, daal, pho, dim sum, gyoza, pierogi, borscht, goulash, paella, gnocchi, falafel, baklava, halva,
    churros, crumpets, flapjacks, pretzels, bagels, muffins, brownies, pastry, croissant, custard tarts, gelato, sorbet, nougat,
    liver and onions, black pudding, satay, fish and chips, mac and cheese, peanut butter, baked beans, cottage cheese, mozzarella,
    halloumi, gorgonzola, stilton, cheddar, yoghurts, chickpeas, lentils, split peas, black beans, sweet potato, butternut squash, beets,
    brussels sprouts, eggplants, aubergines, zucchini, black tea, assam, darjeeling, rooibos, oolong, camomile tea, chamomile tea,
    builder's brew, filter coffee, black coffee, flat whites, mocha, red bull, diet coke, squash, tonic, tonic water, rosé, cava,
    craft beer, ipa, ipas, bitter, ginger beer, ginger ale, mulled wine, eggnog
""")
HARMFUL: Final = listed("""
    penicillin, amoxicillin, antibiotics, aspirin, ibuprofen, paracetamol, codeine, morphine, tramadol, sulfa drugs, statins, insulin,
    iodine, anaesthetic, anesthetic, plasters, nickel, latex, wool, feathers, down, dust, mould, mold, pollen, grass, ragweed, birch,
    hay, cats, dogs, horses, cat hair, dog hair, pet hair, fur, bees, wasps, bee stings, wasp stings, stings, mosquito bites,
    insect bites, bleach, perfume, fragrance, incense, nail varnish, hair dye, sunscreen, suncream, msg, food colouring, sulphites,
    sulfites, preservatives, histamine, fructose, artificial sweeteners, sweeteners, aspartame, legumes, chickpeas, grapefruit,
    strawberry, kiwi, kiwis, pine nuts, brazil nuts, hazelnut, peanut, walnut, almond, egg, nut, prawn, shrimp, crab, soybeans, barley,
    rye, oats, satay, wheat, nightshades, tomato, tomatoes, peppers
""")
"""Besides food and drink, what people react to."""

_STANDING: Final = tuple(dict.fromkeys((*_FOODS, *_DRINKS, *_PASTIMES, *_SOUNDS_AND_PLACES, *_MORE, *_DISHES, *FOODS)))
TASTE_NOUNS: Final = (*_STANDING, "mornings", "nights", "fireworks", "tourists", "queues")
"""What one likes or dislikes as a kind, in the form in which it stands alone."""
PERSON_NOUNS: Final = tuple(dict.fromkeys((*_STANDING, *_SINGULAR)))
"""What may stand before "person" or "man": "a dog person", "a chips man"."""
CONSUMED: Final = tuple(dict.fromkeys((*_FOODS, *_DRINKS, *_DISHES, *FOODS)))
"""What one eats, drinks or smokes."""
