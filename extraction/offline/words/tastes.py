"""Words of statements about what somebody likes, dislikes, avoids, cannot eat, or regularly does."""

from typing import Final

from extraction.offline.grammar.patterns import listed

LIKING: Final = listed("""
    devour, binge on, binge-watch, crave, relish, savour, savor, worship, dig, love, like, enjoy, prefer, adore, luv, am fond of,
    cherish, treasure, have a soft spot for, have a weakness for, have a thing for, can't get enough of, am crazy about,
    take pleasure in, swear by
""")
"""Verbs after "I" for what one likes."""
ADMIRERS: Final = listed("""
    obsessed with, hooked on, fan of, lover of, fond of, into, keen on, a fan of, crazy about, passionate about, mad about, partial
    to, nuts about, devoted to, enthusiastic about, big on, a devotee of
""")
"""Follow "I'm" before what one likes."""
FERVOUR: Final = listed("""
    total, complete, utter, true, devoted, keen, avid, lifelong, passionate, serious, particularly, really, much of a, too, very,
    overly, exactly, absolute, die-hard
""")
"""Before a noun of a taste: "a lifelong fan"."""
DISLIKING: Final = listed("""
    hate, dislike, detest, loathe, despise, abhor, can't stand, cannot stand, can not stand, can't bear, cannot bear, can't abide,
    can't stomach, cannot stomach, can't tolerate, don't like, do not like, don't enjoy, do not enjoy, don't really like, don't much
    like, don't really enjoy, don't care for, do not care for, don't care much for, don't love, never liked, have never liked, really
    can't stand, never enjoy, resent, really don't like, can't deal with, have a strong dislike for, have no time for, don't
    particularly like, don't especially like, am not a fan of, am no fan of, am not into
""")
"""Verbs after "I" for what one dislikes."""
REPELLING: Final = listed("""
    terrify, terrifies, scare, scares, disgust, disgusts, irritate, irritates, frighten, frightens, repulse, repulses, creep, creeps,
    nauseate, nauseates
""")
"""Verbs whose subject is what one dislikes: "clowns terrify me"."""
REPELLING_PHRASES: Final = listed("""
    freak me out, freaks me out, make me gag, makes me gag, make me sick, makes me sick, give me the creeps, gives me the creeps,
    gross me out, grosses me out, creep me out, creeps me out, turn my stomach, turns my stomach, drive me mad, drives me mad,
    drive me crazy, drives me crazy, drive me nuts, drives me nuts, drive me insane, drives me insane, drive me up the wall,
    drives me up the wall, get on my nerves, gets on my nerves, turn me off, turns me off, put me off, puts me off
""")
"""The same in several words, with their object."""
AVOIDED_ACTS: Final = listed("watch, listen to, follow, celebrate, eat, drink, wear, buy, smoke, consume, touch, cook with")
"""Verbs after "I never"."""
UNAVOIDED: Final = listed("""
    it, that, this, them, much, enough, anything, any thing, a lot, alone, here, there, to, out, as, so, like, well, in, at, on,
    before, after, when, until, if, my, your, the, a, an, up, with, for, properly, right, healthily, healthy, this much, these, those,
    any more, anymore, more, less, too, very, often, together, yet, now, time, all, half, one, another, someone, people, you, me, him,
    her, us, eye, eyes, care, advantage, part, place, no, long, photos, pictures, risks, questions, conflict, conflicts, another bite
""")
"""After a verb of avoidance, they name no thing that one always avoids."""
DIETS: Final = listed("""
    veg, veggie, vegan, vegetarian, pescatarian, pescetarian, flexitarian, ovo-vegetarian, lacto-vegetarian, fruitarian,
    lactose-intolerant, gluten-intolerant, fructose-intolerant, histamine-intolerant, dairy-intolerant, coeliac, celiac, teetotal, a
    teetotaller, diabetic, plant-based, gluten-free, dairy-free, lactose-free, sugar-free, keto, paleo, raw vegan
""")
"""Follow "I'm": "I'm vegan", "I'm a coeliac"."""
REGIMES: Final = listed("""
    vegan, vegetarian, pescatarian, plant-based, gluten-free, dairy-free, lactose-free, sugar-free, low-carb, low-salt, low-sodium,
    low-fat, low-fodmap, keto, ketogenic, paleo, kosher, halal, mediterranean, raw food, macrobiotic, diabetic, meat-free, nut-free,
    egg-free, soy-free, whole-food, whole-foods
""")
"""Before "diet": "a low-salt diet"."""
DIET_DEGREES: Final = listed("""
    strict, pure, lifelong, committed, full-time, practising, practicing, dedicated, proud, long-time, total, complete, hundred
    percent, 100%, fully, completely, strictly, mostly, type 1, type 2, type one, type two, devout, ethical, entirely
""")
"""Before a diet: "a strict vegan"."""
FOODS: Final = listed("""
    dairy, gluten, lactose, nuts, peanuts, eggs, wheat, soy, soya, shellfish, seafood, sugar, caffeine, alcohol, milk, cheese,
    cream, butter, meat, pork, beef, chicken, fish, onion, onions, garlic, tomatoes, chocolate, coffee, bread, yeast, salt, spicy
    food, fried food, raw fish, red meat, almonds, walnuts, cashews, sesame, citrus, mushrooms
""")
"""Foods that one cannot "have" for good."""
MATERIALS: Final = listed("""
        suede, leather, fur, fake fur, wool, polyester, nylon, fleece, viscose, acrylic, silk, down, feathers, plastic, latex,
    velvet, mohair,
    angora, cashmere, linen, denim, lace, sequins, glitter, parabens, sulphates, sulfates, silicones, fragrance, perfume, palm oil,
        microplastics, rayon, elastane, spandex, lycra, rubber, corduroy, tweed, synthetics, synthetic fabrics, animal products,
    high heels, heels
""")
"""Materials and features of goods that one may refuse."""
INTENSIFIERS: Final = listed("""
    super, very, severely, highly, mildly, deathly, slightly, a bit, extremely, badly, terribly, seriously, strongly, really,
    horribly, dangerously, violently, massively, quite, pretty, ridiculously, a little, a tiny bit, wildly, fatally, hugely, mortally
""")
"""Before "allergic" and the like: "severely allergic to"."""
DEGREES: Final = listed("""
    severe, bad, serious, mild, strong, life-threatening, terrible, slight, nasty, massive, huge, big, great, real, total, diagnosed,
    known, confirmed, major, minor, horrible, awful, small, pretty bad, pretty severe, really bad, very bad, dangerous
""")
"""Before a noun of an allergy or a taste: "a severe allergy", "a big fan"."""
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
"""After a verb of :data:`ROUTINES`, they make it another act."""
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
TALKING: Final = listed("""
    think, say, believe, know, see, hear, imagine, pretend, be, have, get, point, call, joke, tell, do, make, go, just, take, try,
    use, feel, keep, ask, thank, add, know, start, hope
""")
"""After "I like to", they state no taste."""
PERSON_OF: Final = listed("""
    cat, dog, tea, coffee, beach, mountain, winter, summer, autumn, spring, book, plant, horse, bird, city, country, whisky, wine,
    beer, chocolate, cheese, sea, island, train
""")
"""Words before "person" that state a taste: "a cat person"."""
