"""Words for relatives, friends and pets, and words that are no names of people."""

from typing import Final

from extraction.offline.grammar.patterns import listed

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
    fella, bloke, lass, papa, nanna, gramps, great-niece, great-nephew
""")
"""Nouns for one person after "my"."""
MANY_RELATIVES: Final = listed("""
    sons, daughters, kids, children, boys, girls, twins, brothers, sisters, cousins, nieces, nephews, grandchildren, grandkids, dogs,
    cats, puppies, kittens, horses, ponies, donkeys, rabbits, guinea pigs, hamsters, budgies, parrots, goats, hens, chickens, rats,
    gerbils, ferrets, geckos, friends, best friends, flatmates, roommates, housemates, colleagues, turtles, tortoises, goldfish,
    canaries, alpacas, ducks, parents, grandparents, in-laws, grandsons, granddaughters, stepkids, stepchildren, stepsons, stepdaughters,
    lads, girls, godchildren, pups, lodgers, neighbours, neighbors, teammates, triplets, coworkers, co-workers, bandmates, aunts, uncles,
    childs, babies, lizards, snakes, fish, tortoises, pigs, sheep, lambs, greyhounds, spaniels, terriers
""")
"""Nouns for several people or pets after "my"."""
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
"""Nouns for one animal after "my"."""
SHORT_BREEDS: Final = listed("lab, golden, boxer, dane, springer, shepherd, heeler, aussie, cocker, cavalier, bengal, persian")
"""Short names of breeds, which are other words, too."""
WHOSE: Final = listed("""
    lil, lil', li'l,
    baby, twin, dear, little baby, older, younger, little, big, elder, twin, eldest, youngest, new, dear, oldest, middle, baby, old,
    wee, lovely, beautiful, sweet, only, first, rescue, black, white, ginger, grumpy, beloved, crazy, adorable, long-haired, tiny,
    fat, fluffy, pet, poor, clever, favourite, favorite, one-eyed
""")
"""May stand between "my" and a relation."""
PEOPLE_WHO_NAME: Final = listed("""
    everyone, everybody, people, most people, friends, my friends, family, my family, all my friends, my mates, mates, folks, most
    folks, they all, my colleagues, colleagues, everyone here, everybody here, all, most of my friends, my close friends, the family,
    folks around here, my team
""")
"""Subjects of "... call me"."""
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
