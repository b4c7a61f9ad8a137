"""The cues of moods other than plain statement. To teach the extractor a cue, add it to its list."""

from typing import Final

from extraction.offline.grammar.patterns import listed

# Texts to process

PROCESSING: Final = listed("""
    translate, translates, translated, translating, translation, translations, proofread*, proof-read*, summarise, summarize, rewrite,
    rewriting, rephrase, rephrasing, reword, paraphrase, spellcheck, spell-check, transcribe, transcription, traduis*, traduce,
    übersetze, grammar, grammatical, grammatically, spelling, wording, punctuation, conjugate, parse, tokenize, tokenise, sentiment,
    subtitle, subtitles, caption, dictation, lorem ipsum, test data, dummy, placeholder, simplify this, more formal, more formally,
    less formal, native speaker would, sounds natural, sound natural, diagram this, classify, detect the language, which language is,
    what language is
""")
"""A message with one of them gives a text to work on."""
SENTENCE_VERBS: Final = listed("""
    change, turn, make, replace, swap, modify, adjust, correct, fix, check, improve, polish, edit, shorten, format, convert, analyse,
    analyze, explain, complete, finish, continue, repeat, quote, read out, say, echo, print, extract, encode, decode, count
""")
TEXT_NOUNS: Final = listed("""
    gender, tense, tone, pronouns, voice, person here, into passive, into past, into reported, into direct, into indirect, sound
    nicer, sound better, sound more, past tense, negative form, plural, text, sentence, sentences, word, words, line, lines,
    paragraph, paragraphs, code, json, table, list, data, email, e-mail, letter, essay, message, following, below, above, phrase,
    phrases, passage, quote, string, tweet, caption, paragraph, draft, snippet, verse, stanza, dialogue, post, story, poem, song,
    lyrics, chat, conversation
""")
WRITING_VERBS: Final = listed("""
    write, writing, draft, drafting, compose, generate, create, make up, come up with, give me, tell me, put, type, enter, send, post,
    reply with, answer with, say, craft, pen, prepare, design, suggest, need, want, help me with, work on, finish
""")
WRITTEN: Final = listed("""
    story, stories, poem, poems, song, songs, lyrics, bio, bios, profile, email, e-mail, letter, dialogue, script, essay, speech,
    caption, tweet, text, message, sentence, sentences, joke, jokes, reply, field, form, box, line, lines, ad, advert, post, toast,
    review, limerick, haiku, monologue, template, sample, example, example sentence, cover letter, statement, testimonial, novel,
    blurb, slogan, headline, introduction, conversation, answer
""")
READING_VERBS: Final = listed("""
    answer, reply to, respond to, handle, read, look at, look over, deal with, what do you think of, what do you think about, thoughts
    on, got, received, found, here's, here is, this is, see, forwarding, sharing, saw, came across, pasting, attached is, below is,
    review, rate, react to
""")
READ_TEXTS: Final = listed("""
    email, e-mail, mail, letter, message, text, review, post, comment, ticket, request, application, cv, resume, profile, ad, advert,
    listing, tweet, dm, note, paragraph, passage, article, transcript, log, snippet, quote, voicemail, bio, postcard, statement,
    testimonial, excerpt, extract, diary entry, thread, reply, caption, status, essay, answer, story, poem, sms, sign,
    poster, brochure, flyer, leaflet, banner, slide, sticker
""")
OTHERS_TEXTS: Final = listed("""
    answer, answers, reply, replies, words, bio, profile, cv, resume, letter, statement, description, entry, post, ad, email, message,
    note, text, review, story, version, status, lyrics, essay, speech, motto, line, quote
""")
EXERCISES: Final = listed("""
    example, sample, template, mock, exercise, exercises, practice, practise, practising, practicing, rehearse, rehearsing, fill in,
    homework, textbook, flashcard, flashcards, vocabulary, quiz, worksheet, lesson, duolingo, drill, dialogue, test sentence
""")

# Fiction and play

PROPOSALS: Final = listed("""
    let's, let us, want to, wanna, time to, shall we, can we, could we, how about we, i'd like to, i want to, we could, would you
""")
PLAYS: Final = listed("""
    play, pretend, role-play, imagine, act, improvise, simulate, enact, re-enact, act out, make believe, do a scene, do some improv,
    rp
""")
FICTION: Final = listed("""
    dreamt, dreamed, had a dream, had a nightmare, hallucinat*, role-play*, roleplay*, rp, pretend*, make-believe, character,
    characters, protagonist, narrator, villain, heroine, hero, avatar, persona, novel, novella, screenplay, script, chapter, fiction,
    fictional, fanfic*, fairy tale, stanza, haiku, monologue, dialogue, campaign, dungeon, dungeons, d&d, dnd, larp, quest, npc,
    improv, lyrics, verse, chorus, refrain, opening line, once upon a time, in character, skit, sketch comedy, text adventure,
    backstory, alter ego, cosplay, cosplaying, costume, dress up as, dressed up as, dressing up as, secret identity, stage name, pen
    name, undercover, cover story, false name, fake name, fake id, alias, impersonat*, simulation, simulate, simulated, sims,
    minecraft, skyrim, rpg, mmorpg, storyline, plot, prologue, playthrough, game master, dungeon master, storytelling, world-building,
    worldbuilding, theatre script, audition, auditioning, voice-over, parody, continue the scene, continue the story, next scene,
    set the scene, stay in character, vampire queen, vampire king, vampire lord, sorcer*, warlock, necromancer, galactic, starship, elven
""")
"""Words of fiction. A message with one of them, and those after it, are not about the writer's life."""
PERSONAS: Final = listed("""
    elf, goblin, orc, ork, dwarf, dwarven, halfling, hobbit, gnome, troll, ogre, wizard, mage, archmage, witch, vampire, werewolf,
    zombie, ghost, ghoul, dragon, unicorn, mermaid, fairy, faerie, pixie, paladin, druid, bard, rogue, cleric, pirate, android, cyborg,
    knight, alien, demon, robot, centaur, minotaur, cyclops, ninja, samurai, gladiator, evil *, superhero, villain
""")
"""The parts that people play: "I'm Zyx, the space goblin"."""
FAMOUS: Final = listed("""
    sherlock, sherlock holmes, dracula, frodo, bilbo, gandalf, harry potter, hermione, cinderella, snow white, rapunzel, zorro, robin
    hood, peter pan, superman, batman, spiderman, wonder woman, iron man, doctor doom, james bond, darth vader, luke skywalker, yoda,
    macbeth, king arthur, merlin, lancelot, zeus, odysseus, santa claus, pikachu, don quixote, tarzan, mowgli, captain nemo
""")
"""Persons of well-known tales."""
TITLES: Final = listed("""
    captain, lord, lady, sir, king, queen, prince, princess, count, countess, duke, duchess, baron, baroness, emperor, empress,
    inspector, detective, agent, commander, admiral, general, dame, archduke, sheriff, pharaoh, saint
""")
"""Titles that people give themselves in a play more often than in earnest."""
GAMES: Final = listed("""
    stardew valley, animal crossing, zelda, pokemon, pokémon, fortnite, roblox, baldur's gate, dragon age, final fantasy, elden
    ring, the witcher, fallout, mass effect, gta, red dead, runescape, warcraft, wow, terraria, starfield, cyberpunk, mario kart,
    the game
""")
PERFORMED: Final = listed("""
    date, interview, job interview, conversation, phone call, call, dialogue, pitch, speech, audition, negotiation, small talk,
    meeting, scene, skit, sketch, exam, oral exam, introduction, introductions, first meeting
""")
TALES: Final = listed("""
    song, songs, movie, film, poem, verse, lyric, lyrics, book, story, scene, episode, play, game, musical, series, show, comic,
    sketch, ad, commercial, advert, meme, joke, tale, limerick, ballad, nursery rhyme, rhyme, opera, anthem, podcast
""")
WORLDS: Final = listed("""
    dream, dreams, story, book, game, play, tale, simulation, sim, world, diary, act, movie, film, song, poem, novel, scene, episode,
    show, comic, series, role, part, musical, fantasy, nightmare, daydream, universe, timeline, life, version, reality, skit,
    screenplay, scenario
""")
SUPPOSITIONS: Final = listed("""
    guess which, two truths, true or false, would you rather, affirmation, affirmations, manifesting, mantra, memoir, memoirs,
    autobiography, hypothe*, for the sake of argument, for the sake of the argument, argument's sake, for example, for instance,
    thought experiment, scenario, theoretically, in theory, let's say, lets say, what if, picture this, say for example, say for
    instance, in a parallel universe, in another life, in my next life, in a past life, in a previous life, in a different life, in an
    alternate universe, pretend, had i been, were i a, were i an, were i to, if only, in case i, devil's advocate, as an example, e.g
""")
SUPPOSING: Final = listed("imagine, suppose, supposing, assume, assuming, say, let's say, picture, pretend")
END_OF_FICTION: Final = listed("""
    out of character, ooc, stop the game, stop playing, stop role-playing, stop roleplaying, game over, game is over, game's over,
    role-play is over, roleplay is over, scene is over, scene's over, story is over, story's over, back to reality, in real life, irl,
    for real now, end of story, end scene, end of scene, end of role-play, end of roleplay, end role-play, end roleplay, breaking
    character, back to real life, seriously now, jokes aside, joking aside
""")

# Irony and jokes

MOCKING: Final = listed("""
    sarcas*, irony, ironic, ironically, yeah right, as if, said no one ever, said nobody ever, of course i, just kidding, kidding,
    jk, j/k, just joking, only joking, i'm joking, i was joking, i joke, a joke, joke's on, the joke, made that up, made it up, made
    this up, gotcha, psych, in my dreams, i lied, that's a lie, it's a lie, is a lie, was a lie, not true, isn't true, that's false,
    is nonsense, figuratively, in theory, so to speak, not!, pulling your leg, got you, fooled you, april fools, april fool, had you
    there, haha no, in your dreams, exaggerat*, metaphorically, quote unquote, pun intended, no pun, pun, bazinga, ba dum tss,
    badum, wink wink
""")
LAUGHTER: Final = listed("lol, lmao, rofl, haha*, hehe*, hihi, xd, lolz, ahah*")
UNPLEASANT: Final = listed("""
    queue, queues, queuing, queueing, line, traffic, waiting, wait, form, forms, paperwork, tax, taxes, scrub*, unclog*, clog*, stuck,
    delayed, delays, ironing, debugging, on hold, call centre, call center, hotline, vacuum*, dentist, woken, woke, alarm, drill,
    drills, drilling, ticket, tickets, fines, spam, bills, commut*, missing, resetting, password,
    passwords, toilet, toilets, drain, drains, dishes, puddle, puddles, mosquitoes, sleet, meeting, meetings, ignored, yelled, shouted,
    paying, cleaning, mopping, dusting, laundry, spreadsheet*, invoices, cleaning up, burnt, mould, mold, leak*, repacking,
    overtime, 3 am, 4 am, 5 am, 6 am, 2am, 3am, 4am, 5am, lugging, stepping, sitting through, standing in, crawling, shovelling,
    shoveling, de-icing, scraping, cancelled, canceled, broken, rush hour, crowded, interrupted, assembling, chasing,
    repeating, explaining, apologising, apologizing, sweating, freezing, sneezing, coughing, hangover, catching up on email*,
    emails,
    lego, vomit, litter box, bins, rubbish, trash, garbage, moving house, packing boxes, root canal, updates, rebooting
""")
WEAK_MOCKERY: Final = listed("""
    best, greatest, highlight, highlights, living the dream, makes my day, made my day, what a, such a, such fun, such joy, pure bliss,
    bliss,
    pure joy, truly, magical, nothing better, nothing says, nothing like, so relaxing, so much fun, so fun, relaxing, thrilling,
    my favourite,
    my favorite, favourite, favorite, can't get enough, could do it all day, could do this all day, lucky me, sign me up, more please,
    more of that, exactly how, exactly what, just how, just what, every single, the dream, dream come true, love it, fun times,
    good times,
    great fun, wonderful, fantastic, amazing, delightful, heaven, paradise, 10/10, ten out of ten, five stars, would recommend,
    therapy, quality
    time, a real treat, a joy, a delight, a thrill, the joy, the joys, pinnacle, peak, can't wait, cannot wait, please more, never gets
    old, bring it on, very glamorous, glamorous, living my best life, adventure, luxury
""")
STRONG_MOCKERY: Final = listed("""
    who needs, who doesn't, who wouldn't, who would not, said no one, said nobody, living the dream, sign me up, lucky me, just what i
    needed, exactly what i needed, exactly how i wanted, just how i wanted, nothing says, what could be better, what more could,
    my idea of
    heaven, because sleep is overrated, overrated, if only there were more, pinnacle of, highlight of my life, what a life, what a way to,
    truly magical, oh joy, hooray for
""")
"""Mockery after praise."""
JOYS: Final = listed("""
    great, wonderful, fantastic, lovely, brilliant, perfect, fabulous, super, joy, yay, awesome, amazing, good, terrific, splendid,
    marvellous, marvelous, excellent, magnificent, superb, delightful, charming, fun, nice
""")
SIGHS: Final = listed("""
    oh, ah, well, wow, yay, gee, sure, yeah, right, great, wonderful, fantastic, lovely, brilliant, perfect, fabulous, super, awesome,
    amazing, terrific, splendid, marvellous, excellent, superb, delightful, hooray, ooh, whoopee, woohoo
""")
AGREEMENTS: Final = listed("""
    sure, yeah, yea, yep, right, totally, absolutely, certainly, of course, naturally, uh-huh, mhm, great, wow, brilliant, suuure,
    riiight, surely, indeed, oh yes
""")
ROYALS: Final = listed("""
    queen, king, pope, emperor, empress, tooth fairy, easter bunny, santa, santa claus, father christmas, napoleon, cleopatra, batman,
    president of, prime minister of, sultan, tsar, czar, lord of, duke of, duchess of, god, messiah, dalai lama, last unicorn, devil,
    world champion
""")

# Somebody's claim

REPORTING: Final = listed("""
    as far as the, as far as my, as far as anyone, on record, for tax reasons, they say, people say, some say, folks say, you say,
    to say that, say that, might say, would say, could say, word is, word has it, says, said, saying, tell, tells, told, telling,
    claim, claims, claimed, claiming, wrote, writes, insist, insists, insisted, swear, swears, swore, argue, argues, argued, joked,
    according to, rumour*, rumor*, horoscope, the quiz, a quiz, this quiz, that quiz, quiz result, quiz results, wikipedia,
    reads, mentioned that, announces, announced, declares, declared,
    mistake, mistook, confused me, lie, lies, lied, lying, untrue, myth, nobody ever, nobody believes, nobody says, nobody thinks,
    nobody knows, no one ever, no one believes, no one says, no one thinks, never said, shouts, shouted, yells, yelled, whispered,
    muttered, goes like, replied, replies, answered, states that, stated that, quoth, is like, was like, went like, be like,
    chatgpt, linkedin, algorithm, spam, phishing, scam, mistaken, mistakenly, accused, accuse, accuses, calls it, diagnosed me,
    texted, texts, messaged, emailed, posted, commented, tweeted, sings, sang, thinks, think that, believes, believed, believe that
""")
OTHERS: Final = listed("""
    he, she, they, people, everyone, everybody, somebody, someone, my, his, her, our, their, the, some, every
""")
THINKING: Final = listed("""
    thinks, thought, believes, believed, assumes, assumed, heard, feels, hopes, think, believe, assume, suspect, suspects, reckons,
    reckon, guesses, figured, decided, imagines, wishes, expects, wants, prefers to think
""")

# Conditions, wishes, doubts

UNCERTAIN: Final = listed("""
    if, unless, whether, lest, would, wouldn't, could, might, wish*, dream*, hope, hoping, hopefully, want, wanna, supposed to,
    pretend*, imagine, imagining, suppose, guess, think, thought, maybe, perhaps, probably, almost, nearly, not sure, decided, feel
    like, feels like, someday, one day, no more, the idea, practically, basically, i'd, we'd, he'd, she'd, they'd, you'd, possibly,
    presumably, should i, doubt, rumoured, thinking of, thinking about, considering, planning, plan to, plans to, going to, tempted,
    seemingly, as though, as if, can't decide, unsure, kind of, sort of, potentially, kinda, sorta, clearly, obviously, apparently,
    supposedly, allegedly, technically, virtually, literally, for all i know
""")
BACKGROUNDS: Final = listed("""
    when, whenever, while, once, if, unless, back when, in those days, as a kid, as a child, as a boy, as a girl, as a teen*, as a
    student, as a baby, when i was a *, until, till, before, back then, back in the day, years ago, growing up, in the past,
    previously, formerly, in my youth, in my twenties, in school, long ago
""")

# Questions

ASKING: Final = listed("""
    any, what, what's, whats, why, how, how's, where, which, who, when, can, could, do, does, did, don't, is, are, am, would, will,
    should, have, has, may, got, please, recommend*, know any, know a, anything, anyone, whose, isn't, aren't, won't, shall, ideas,
    tips, suggestions, thoughts, what if, in which, at what, for how, was, were, would you, wanna, want, you know, which one, wouldn't
""")
TAGS: Final = listed("""
    am i, do i, don't i, aren't i, is it, isn't it, right, correct, huh, yes, no, did i, have i, haven't i, am i not, do we, don't we,
    are we, aren't we, is that right, is that so, is that true, is that correct, would you believe it, can you believe it, do i
    really, am i really
""")

# Fragments

ENGLISH_NOUNS: Final = listed("""
    monday, tuesday, wednesday, thursday, friday, saturday, sunday, tomorrow, an hour, hours, mins, min, swim, swimming, bike ride,
    squats, leg day, treadmill, allergy, intolerant, dentist, appointment, half marathon, driving test, exam, interview, wedding, funeral,
    birthday, flight, haircut, surgery, rehearsal, viewing
""")
"""Words by which a fragment without a verb is English: "Dentist on Friday at 10"."""

# Words about the saying itself, and heads before a colon

ASIDES: Final = listed("""
    believe it or not, if you must know, if you ask me, if that helps, if it helps, if that matters, if it matters, in case you
    wonder, in case you wondered, in case you're wondering, in case you are wondering, if you're wondering, if you are wondering,
    i'm afraid, i am afraid, to be honest, tbh, no joke, i swear, swear to god, i must say, i have to say, needless to say, as i
    say, as they say, that said, not to mention, let's just say, sad to say, happy to say, you could say, you might say, i always
    say, no lie, so basically, ok basically, okay basically, not gonna lie, i kid you not, like i said, as i said, as i mentioned,
    as mentioned, i'd say, i would say
""")
OWN_HEADS: Final = listed("""
    new job, got a job, a new job, career change, job change, my job, my diet, my allergies, my details, my problem, my question,
    my situation, my name, my home, my work, my request, my data,
    my point, my excuse, i, me, as for *, thing, things, point, request, question, problem, issue, ps, also, plus, so, news, update,
    reason, because, background, context, intro, introduction, info, note, reminder, typo, correction, sorry, oops, careful, warning,
    caution, beware, disclaimer, confession, fact, truth, secret, short, tldr, tl;dr, simple, changed, changes, wait, edit, decision,
    decisions, decided, action, actions, owner, todo, to do, blocker,
    blockers, blocked, risk, status, agenda, date, budget, attendees, present, next steps, goal, goals, plan, standup, retro, item *
""")
OTHERS_IN_HEADS: Final = listed("from my, from our, himself, herself, themselves, he, she, they, his, her, their")
