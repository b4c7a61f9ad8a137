"""The cues of frames: what announces a text, opens a play or an exercise, and what returns to the speaker's own voice."""

import re
from typing import Final

from extraction.offline.factuality import mood_patterns as moods
from extraction.offline.factuality import mood_words as words
from extraction.offline.grammar.patterns import any_of, either, listed, whole
from extraction.offline.words.people import RELATIVES
from memory.texts.prefiltered_patterns import compiled

_TEXT: Final = any_of(words.READ_TEXTS, listed("complaint, mail, texts, words, sentences, voice message, draft, feedback, translation"))
_WORK: Final = any_of(
    listed("""
    translate, proofread, proof-read, summarise, summarize, rewrite, rephrase, reword, paraphrase, correct, polish, edit, shorten, improve,
    transcribe, check, fix, spell-check, spellcheck, simplify, analyse, analyze, review, rate, grade, mark
""")
)
_COMING: Final = any_of(
    listed("""
    the following, the next, my next, next message, next text, next one, what follows, comes next, i send, i type, i write, i paste, i say,
    i post, below, from now on, one after the other, one by one, in a second, in a moment, in a minute, next sentence, next sentences
""")
)
_SENT: Final = r"(?:sent|wrote|writes|texted|emailed|messaged|posted|said|says|told|left|came|got|received|submitted|replied|answered)"
_LANGUAGE: Final = any_of(
    listed("""
    english, french, german, spanish, italian, dutch, swedish, danish, norwegian, finnish, polish, portuguese, russian, ukrainian, turkish,
    greek, czech, hungarian, romanian, japanese, chinese, mandarin, korean, arabic, hebrew, hindi, latin, irish, welsh, catalan, croatian
""")
)
ANNOUNCEMENT: Final = either(
    rf"\b{_WORK}\b[^.!?\n]{{0,60}}\b{_COMING}\b",
    # "can you proofread this?", "summarise my opponent's letter": the text is not in the message
    rf"\b{_WORK}\b (?:for me |please )?(?:this|that|these|it|something|a few|some|my \w+|the|our|\w+['’]s)?(?: \w+){{0,4}}\s*(?:for me"
    rf"|please"
    r"|politely|in|into|to|of)?[^.!?:\n]{0,30}[?.:!…]*$",
    rf"\b(?:this|it|next (?:one|text|message)) in(?:to)? {_LANGUAGE}\b",
    rf"^\W*{_LANGUAGE} for the (?:next|following)\b",
    # "She wrote me this today:", "here is what the customer says", "what the tenant upstairs sent:"
    rf"\b(?:here(?:['’]s| is| are)|this is|that is|that['’]s|look(?: at)?|see|read|quoting|below is|below are|attached is) [^.!?\n]{{0,40}}"
    rf"(?:{_TEXT}|{_SENT})\b[^.!?\n]{{0,40}}[.:!…]*$",
    rf"^\W*(?:and |so |ok |now )*what [^.!?\n]{{1,50}} {_SENT}\b[^?\n]{{0,40}}[.:!…]*$",
    r"\b(?:this|it) (?:came|arrived|was sent|was posted|is) (?:\w+ )?from (?:my|our|the|a|an|his|her)\b[^?\n]{0,40}[.:!…]*$",
    rf"\b(?:he|she|they|someone|somebody|(?:my|our|the) \w+) (?:just |also )?{_SENT}\b[^.?!\n]{{0,40}}(?:\bthis\b[^.?!\n]{{0,30}})[.:!…]*$",
    # "My brother's text:", "Text from my ex:", "my neighbour's note"
    rf"^\W*(?:(?:and|now|the|a|my|our|his|her|their) )*[\w-]+(?: [\w-]+)?['’]s (?:\w+ )?{_TEXT}\s*[.:!…]*$",
    rf"^\W*(?:(?:a|an|the|another|new|last) )*{_TEXT} (?:from|by|of) [^.?!\n]{{1,40}}[.:!…]*$",
    r"\bquoting (?:my|our|the|a|him|her|them|[A-Z]\w+)\b[^.?!\n]{0,30}[.:!…]*$",
    rf"^\W*(?:here(?:['’]s| is)|this is) my (?:\w+ )?(?:{_TEXT}|speech|intro\w*|pitch|text)\b[^?\n]{{0,40}}:\s*$",
    r"\b(?:read|look at) (?:this|that|it|the following)\b[^.:\n]{0,40}[.:!?…]*$",
)
"""Announces a text that is not in the message: what follows, up to its answer, may be that text."""
MENTION: Final = either(
    rf"\b(?:{_TEXT}|{any_of(words.WRITTEN)}|homework|paragraph|brochure|voicemail|diary|statement|leaflet|flyer"
    rf"|announcement|intro|introduction"
    r"|transcript|manual|chapter|article|subtitles?|recording|memo|fax|telegram|postcard)\b",
    rf"\b{_WORK}\b|\b(?:forward(?:ed|ing)|dictat(?:e|es|ed|ing)|copy(?:ing)?|copied|past(?:e|ed|ing)|quot(?:e|es|ed|ing)"
    rf"|typed|answered|reads"
    r"|overheard|translat\w+|sound|put this|say this|a native)\b",
)
"""Mentions a text: the messages right after it may be that text."""
STANDING: Final = either(
    rf"\b{_WORK}\b[^.!?\n]{{0,40}}\b(?:everything|anything|whatever|all|every|each)\b[^.!?\n]{{0,40}}",
    rf"\b{_WORK}\b[^!?\n]{{0,40}}\b{any_of(listed('from now on, one after the other, one by one, as i go, until i say'))}\b",
    r"^\W*(?:beta |just |only |this is (?:just |only )?(?:a |my )?)*test(?:s|ing)?\b[^.?!]{0,60}(?:ignore|works?\b|if|whether|bot|this"
    r"|run|message)",
    r"\bignore (?:what|whatever|everything|anything|all) i\b",
    rf"\b(?:want|like|wish|help me|trying|going|need)(?: to)? (?:practi[sc]e|rehearse|train|improve)(?: my| some| a bit of)? {_LANGUAGE}\b",
    rf"\bpracti[sc]e (?:my |speaking |some )*(?:{_LANGUAGE}|small talk|conversation)\b",
    rf"\bcorrect (?:me|my (?:{_LANGUAGE}|mistakes|errors|sentences))\b",
    r"\bquiz me\b|\btruth or dare\b|\btwo truths\b|\bi (?:lie|make things up)\b",
)
"""Announces that all that follows is a text to work on, an exercise or a test."""
_PRACTISED: Final = any_of(
    listed("""
    interview, interviews, job interview, lesson, language lesson, dialogue, scene, skit, sketch, introduction, introductions, introducing,
    small talk, conversation, conversations, speaking, audition, speed dating, speed-dating, customs check, oral exam, first date, phone
    call, sales call, pitch, networking event, meeting people, viva, casting, role play, visa interview
""")
)
_DONE_TOGETHER: Final = any_of(
    listed("""
    interview, job interview, lesson, language lesson, language practice, speaking practice, interview practice, interview training,
    dialogue, scene, skit, sketch, introductions, small talk, exercise, drill, audition, speed dating, speed-dating, customs check, oral
    exam, first date, sales call, casting, role play, visa interview
""")
)
_ABILITIES: Final = any_of(listed("introducing, introductions, interviews, small talk, conversation, conversations, speaking, first dates"))
_PROPOSED: Final = (
    r"(?:let['’]?s|lets|shall we|(?:can|could|may|should) (?:we|you|i)|(?:i|we)(?:['’]d| would| need| have| want| wanna| must| should"
    r"|['’]m (?:going|trying|about)|['’]re going)?(?: like| love)? to|help me(?: to)?|time to|please)"
)
_SOME_WORDS: Final = r"(?: (?!(?:about|because|after|before|tomorrow|yesterday|my)\b)[\w'’-]+){0,6}?"
_PRACTICE: Final = (
    rf"\b{_PROPOSED} (?:[\w'’-]+ ){{0,3}}?(?:practi[sc]e|rehearse|simulate|drill|run through)\b(?: [\w'’-]+){{0,6}}? {_PRACTISED}\b",
    rf"\b(?:let['’]?s|lets|shall we|(?:can|could) we) (?:[\w'’-]+ ){{0,2}}?(?:do|have|try|run|start|go through|set|play)\b{_SOME_WORDS}"
    rf" {_DONE_TOGETHER}\b",
    rf"\b(?:want|like|need|wanna|trying|help me|have)(?: to)? (?:get better at|work on|improve)\b(?: [\w'’-]+){{0,6}}? {_ABILITIES}\b",
    r"^\W*(?:(?:ok|okay|so|hi|hello|today|now)\W+)*(?:(?:job |mock |language |speaking |english )*(?:interview"
    r"|conversation|speaking|language"
    r"|dialogue|introduction) (?:practi[sc]e|training|drill|exercise)|(?:language|english|speaking) lesson)(?: (?:time|please|today|now"
    r"|one|two|\d+))*\s*[.!:,?—–-]",
    r"\b(?:interview|audition|exam|viva|oral)\b.{0,80}\b(?:ask me|question me|grill me|fire away)\b",
    r"\b(?:interview|quiz|question|audition|interrogate|cast) me (?:for|as if|like|as)\b",
    r"\byou (?:ask|start|begin|interview|greet|open)(?: me)?(?: the questions)?,? (?:and )?i(?:['’]ll| will)? (?:answer"
    r"|reply|respond|introduce)\b",
)
"""Announces an exercise in which people speak about themselves in a part."""
_PARTS: Final = any_of(
    listed("""
    customer, client, guest, waiter, waitress, receptionist, patient, doctor, nurse, interviewer, recruiter, boss, teacher, student, pupil,
    shopkeeper, seller, buyer, cop, officer, policeman, suspect, lawyer, judge, witness, host, landlord, tenant, passenger, driver, pilot,
    detective, villain, hero, wizard, knight, king, queen, pirate, merchant, innkeeper, traveller, traveler, robot, alien, vampire, captain,
    tourist, clerk, cashier, caller, salesman, salesperson, assistant, therapist, coach, narrator, storyteller, journalist, reporter, spy
""")
)
_PART_ENDS: Final = r"\b(?=\s*(?:now\b|here\b|please\b|and\b|[.,!;:]|$|who\b|at\b|in\b))"
PLAY: Final = either(
    whole(
        listed("""
    role-play*, roleplay*, rp, pretend, improv, text adventure, interactive fiction, simulation, in character, make-believe, dungeon*,
    d&d, dnd, larp, rpg, npc, game master, interview game, your persona, a persona, stay in character, act out, the scene, next scene,
    our play, of the play, our story, our adventure, the adventure, our quest, acting exercise, in this scenario, practice dialogue,
    practice conversation, practise dialogue, dry run, rehears*
""")
    ),
    r"\bmock (?:\w+ )?(?:interview|trial|call|conversation|date|debate|lesson|meeting|negotiation|pitch|presentation|viva|audition)s?\b",
    rf"\byou(?:['’]re| are|['’]ll be| be| play) (?:now )?the (?:\w+ )?{_PARTS}{_PART_ENDS}",
    rf"\bi(?:['’]m| am|['’]ll be| play) (?:now )?(?:the|your) (?:\w+ )?{_PARTS}(?: now\b|\b(?=[^.!?]*\byou\b))",
    rf"^\W*(?:please )?(?:be|play) (?:the|a|an|my) (?:\w+ )?{_PARTS}{_PART_ENDS}",
    r"\b(?:imagine|suppose|say) (?:that )?(?:you|we)(?:['’]re| are)\b",
    r"\byou(?:['’]re| are) (?:now )?(?:at|on|in|inside|before|aboard) (?:a|an|the|my|your) (?!(?:good|right|wrong|hurry|great|best"
    r"|clear|loop|bad"
    r"|same|position|list|mood|way|phone|call|middle of something)\b)\w+(?![^.!]*\?)",
    r"\blet['’]?s (?:play|tell|write|invent|improvise|act|do an? (?:scene|skit|interview))\b",
    *_PRACTICE,
)
"""Opens a play, for users and assistants."""
GIVEN_PART: Final = either(
    rf"\byou(?:['’]re| are|['’]ll be| be| play) (?:now )?(?:a|an|my) (?:\w+ )?{_PARTS}{_PART_ENDS}",
    rf"[:,.;] (?:please )?(?:be|play) (?:the|a|an|my) (?:\w+ )?{_PARTS}{_PART_ENDS}",
    rf"\b(?:act|speak|talk|answer) (?:as|like) (?:the|a|an|my) (?:\w+ )?{_PARTS}\b",
)
"""A part that a user gives to the assistant; an assistant's "you're a nurse" may be true."""
NARRATION: Final = either(
    r"(?:^|\s)\*[^*\n]{2,80}\*(?=\s|$|[.,!?])",
    r"\byou (?:wake|awake|awaken|open your eyes|enter|stand (?:in|before|at)|find yourself|reach (?:a|an|the)|arrive at (?:a|an|the)"
    r"|walk into"
    r"|step (?:into|through)|see (?:a|an|the) (?:gate|door|cave|castle|dragon|figure|shadow|troll|knight|guard)|hear a voice|approach"
    r"|travel"
    r"|climb|draw your)\b",
    r"\b(?:the|a|an) (?:[a-z]+ )?(?:dragon|dwarf|elf|knight|guard|troll|goblin|wizard|witch|king|queen|innkeeper|stranger|robot"
    r"|merchant|captain"
    r"|old man|old woman|creature|voice|gatekeeper|bartender|barmaid|blacksmith|priest|hermit|ghost|spirit|sphinx|oracle|barkeep"
    r"|sorcerer|bandit|pirate)\b[^.?!\n]{0,30}"
    r"\b(?:asks?|says|wipes|leans|turns|grins|frowns|demands|whispers|growls|shouts|wants to know|looks at you|smiles|laughs|nods"
    r"|stops you)\b",
    r"\b(?:mortal|traveller|traveler|adventurer|stranger|brave (?:hero|one|warrior)|young hero|human|sire|m['’]lord)\s*[?!.]",
    r"\b(?:choose|pick|select|create|name|invent|design|describe)\b[^.?!\n]{0,40}"
    r"\b(?:hero|heroes|hero['’]s|character|character['’]s|persona|class|race|role|avatar|faction|protagonist|backstory|villain)\b",
    r"\bwhich (?:\w+ )?(?:role|class|character|race|hero|faction|part) (?:will|do|would|are|should) you\b",
    r"\blevel \d+ (?:unlocked|complete|begins)|\bquest\b|^\W*scene\b[^.?!\n]{0,30}[:.]|\bact (?:\d|one|two|i|ii)\b"
    r"|\bintroduce yourself to the\b",
)
"""An assistant's lines in a game or a scene."""
_TASK_EXERCISE: Final = (
    r"(?<!any )(?<!some )(?<!much )(?<!more )(?<!enough )(?<!daily )(?<!regular )(?<!physical )(?<!of )(?<!to )(?<!you )"
    r"\bexercise\b(?! (?:bikes?|routine|plans?|planned|regularly|class(?:es)?|mat|today|tomorrow|more|daily|log)\b)"
)
"""A task to do, not sport: "any exercise planned?"."""
EXERCISE: Final = either(
    rf"\b(?:paste|send|share|enter|provide|show|give|type|dictate|tell|which|what)\b[^.?!\n]{{0,40}}\b(?:{_TEXT}|sentence|paragraph)\b",
    r"\bread (?:the following|this|it|after me)\b|\bwould say\b|\byour (?:line|turn to speak|next line)\b|\b(?:the|your) part of the\b",
    r"\b(?:tell|give) (?:me )?(?:a|another|one|two) (?:lie|lies|untruth|example)\b|\byour interviewer\b|\bpretend\b",
    r"\bstate your (?:name|trade|business|purpose)\b|\b(?:in|of) (?:this|the|our|your) (?:story|tale|game|scene|play|adventure|world"
    r"|simulation)\b",
    r"\brepeat after me\b|\bcomplete (?:the|this|my) sentence\b|\bfill in\b|\bfinish (?:the|this|my) sentence\b",
    r"^\W*(?:\w+ ){0,4}?translate\b|\bhow (?:do|would) you say\b|\bsay (?:it|this|that) in\b",
    r"\b(?:write|make|form|give me|make up|build|create|invent|say)(?: me)? (?:a|an|one|another|your|two|three|some) (?:\w+ )?"
    r"(?:sentences?|examples?|lines?|dialogue|phrases?|story|stories|lies?|poems?)\b",
    rf"{_TASK_EXERCISE}|\bpractice question\b|\bsample answer\b|\bquestion \d+ of \d+\b|\bput (?:it|this|that|the sentence) into\b",
    r"\b(?:what would|how would) (?:your character|the|a|an|she|he|they) [^.?!\n]{0,30}\b(?:say|answer)\b",
)
"""An assistant's order of a sentence: the answer is an exercise."""
ASKS_FOR_TEXT: Final = either(
    r"\b(?:go ahead|paste|send|share|ready|provide|show me|enter|listening|let me see|of course|sure|gladly|certainly|happy to|okay|ok"
    r"|yes|will do"
    r"|great|alright|all right|go on|continue|next|please do|i['’]ll|let['’]s (?:start|begin|go)|start whenever|tell me|say something)\b"
)
"""An assistant's short reply that waits for the announced text."""
SERVED: Final = either(
    r"[\"“”«»„‟]|(?<!\w)['‘][^'’\n]{2,}['’](?!\w)",
    r"[:：]\s+\S+\s+\S",
    r"\n\s*\S",
)
"""The text to work on is in the message itself."""
STRONG_RETURN: Final = either(
    moods.END_OF_FICTION.pattern,
    r"\b(?:enough|let['’]?s (?:stop|end|leave)|that was|i(?:['’]m| am) done|done with|end of)\b[^.?!\n]{0,25}"
    r"\b(?:game|play(?:ing)?|practi[sc]e|practi[sc]ing|interview|role-?play(?:ing)?|story|scene|quiz|exercise|test"
    r"|testing|fun|simulation|translating"
    r"|translation|translations|english|it there|here)\b",
    r"\b(?:in reality|the real me|as myself|speaking as me|real (?:life|question|talk)|actually me now|this is me now|test over"
    r"|testing over|end of test"
    r"|new topic|different topic|change of topic|on a serious note|for my real profile|no more (?:games|role-?play|tests?"
    r"|translations?))\b",
    r"\b(?:i|we) really (?:do |am )?\b(?:live|work)\b",
)
WEAK_RETURN: Final = either(
    r"\b(?:by the way|btw|anyway|anyways|unrelated|on another note|another (?:thing|question)|as for me|about me|speaking of me|off topic"
    r"|off-topic|back to me)\b",
    r"^\W*(?:(?:ok|okay|great|perfect|nice|cool|super|wow|good|ah|oh)\W+)*(?:thanks|thank you|thx|cheers|ty|much appreciated)\b"
    r"(?! (?:so much |very much )?for (?:having|inviting|seeing|meeting|the (?:opportunity|invitation|chance)|your time|taking)\b)",
)
REQUEST: Final = either(
    r"^\W*(?:(?:so|ok|and|now|well)\W+)*(?:what (?:should|do you|would|can)|how (?:should|do|can|would) i|how would you|should i"
    r"|can you|could you"
    r"|would you|any ideas|please)\b"
)
"""A question of the user about a text that was shown."""
NO_PLAY: Final = either(
    r"\b(?:science|crime|historical|literary|pulp) fiction\b|\b(?:love|like|enjoy|read|reading|hate|prefer) (?:fiction|novels"
    r"|fairy tales|haiku)\b",
    r"\b(?:play|playing|played)(?: (?:a|an|some|another|one|the))?(?: (?:game|games|round|rounds|bit|match))?(?: of)? "
    + any_of(
        listed("""
    chess, scrabble, checkers, draughts, go, cards, poker, bridge, rummy, uno, 20 questions, twenty questions, trivia, hangman, tic-tac-toe,
    tic tac toe, sudoku, wordle, monopoly, catan, dominoes, battleship, backgammon, tennis, football, soccer, basketball, volleyball, golf,
    badminton, table tennis, ping pong, darts, pool, hockey, cricket, rugby, music, guitar, piano, violin, drums, boggle, crosswords,
    squash,
    padel, minigolf, frisbee, bingo, mahjong, a song, songs, records, some jazz, jazz
""")
    ),
    r"\byou(?:['’]re| are) (?:such )?(?:an?|the|my) (?:absolute |real |true |total |complete )?"
    r"(?:star|best|genius|angel|life-?saver|life saver|legend|gem|hero|great|good|friend|machine|computer|bot|ai|robot|dear|treasure"
    r"|darling|wonder\w*"
    r"|champ\w*|god ?send|sweetheart|brilliant|marvel|expert|greatest|nicest|smartest|real|big|huge|lovely|kind|helpful|only)\b",
)
"""Games without roles, and praise."""
RELATED_TYPIST: Final = any_of(RELATIVES, listed("kid, kids, son, cat, dog, flatmate, brother, sister, colleague, friend, mate"))
ONE_MESSAGE: Final = compiled(
    whole(
        listed("""
    for example, for instance, e.g, what if, in theory, hypothe*, theoretically, if only, in case i, were i to, had i been, were i a, were i
    an, let's say, lets say, say for, say i, say we, say they, say he, say she
""")
    ),
    re.IGNORECASE,
)
"""Suppositions that end with their message."""
