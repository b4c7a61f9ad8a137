"""Example statements of each kind of event, of which :mod:`extraction.offline.events.statement_kinds` learns what other statements are.

They are examples of meanings, not of words: each says something that no other one says. What is none of the kinds is a ``fact``.
"""

from typing import Final


def _lines(text: str) -> tuple[str, ...]:
    """The statements of a text, which "|" separates."""
    return tuple(" ".join(each.split()) for each in text.split("|"))


EXAMPLES: Final[dict[str, tuple[str, ...]]] = {
    "preference": _lines("""
        I really like jazz | I can't stand olives | my favourite season is autumn | we're big fans of board games | I'm crazy
        about pottery | I've never liked roller coasters | not keen on big crowds | give me mountains over beaches | honestly
        I'm more of a soup person | liquorice is disgusting if you ask me | I'm vegetarian | we don't eat pork at home | I stay
        away from fried food | I don't drink wine | no nuts for me please | I stopped eating sugar years ago | I avoid bread
        because it upsets my stomach | I usually get up at five | we always have pancakes on Sunday mornings | I go swimming
        twice a week | every evening I read for an hour | I play the guitar in my spare time | I've been doing karate since I
        was ten | my hobby is woodworking | most weekends we go camping | I spend my free time painting | gardening is what
        keeps me happy | I never skip breakfast | I have a nap every afternoon | I take my tea with milk | I like my steak rare
        | I'd always choose a train over a plane | I support Celtic | country music is not for me | I'm scared of spiders | my
        son loves trains | my wife hates flying | Ravi is obsessed with cricket | our girl is crazy about horses | fresh bread
        is the best thing ever | bagpipes drive me crazy | I'm an early bird | I'm not a morning person | I love nothing more
        than a long bath | I can't handle very hot chilli | I volunteer at the animal shelter on Fridays | Saturdays are for
        football with the lads | I swear by a glass of warm water at dawn | I always take the stairs | I only drink decaf after
        lunch | rude waiters really annoy me | mustard is foul | I can never say no to cake | me and crowds don't mix | I'd
        rather walk than drive | we tend to eat late in the evening | my weekends are usually spent on the boat | I like my
        coffee strong | Tess and I never miss a home game | I've been hooked on chess for months | I tend to avoid the motorway
        | we go to the sauna on Thursdays | I don't do crowds
    """),
    "mood": _lines("""
        I feel terrible today | I'm so happy right now | feeling anxious about tomorrow | I'm really proud of my daughter | I've
        been down all week | so stressed at the moment | absolutely exhausted after the long day | I'm shattered, could sleep
        for a week | I'm over the moon about the news | I'm furious with the airline | my manager is getting on my nerves | my
        neighbour is driving me mad | these deadlines are wearing me out | I cried all evening | I'm heartbroken | can't believe
        we won, I'm buzzing | chuffed with how the talk went | gutted that the concert was called off | still upset about what
        she said | I miss my family so much, it hurts | I'm dreading the appointment | nervous about the results | I feel lonely
        in this city | everything feels pointless lately | I'm worried about my dad | I'm so relieved it's over | what a lovely
        day, I feel great | fed up with the rain | I'm embarrassed about last night | I can't wait, I'm so excited | I'm
        terrified of what the doctor will say | this is making me so angry | I feel guilty for shouting | I've been on edge
        since the call | ugh I hate today | in a really good mood this morning | I'm livid that they cancelled it | so tired of
        all the arguing | my heart is broken | I'm a bundle of nerves | I feel much calmer now | I am so disappointed in him
    """),
    "plan": _lines("""
        I'm going to Madrid next week | we're flying to Canada in August | I have an appointment with the optician on Wednesday
        | my exam is on the 9th | I'm starting a course in September | I'm planning to build a shed this summer | I want to
        learn to drive this year | I've decided to run a marathon | I'm going to ring the bank tomorrow | dinner with the Smiths
        on Friday at eight | haircut at three tomorrow | my operation has been moved to Thursday | we're getting married in June
        | I need to renew my licence before the holiday | I'll pick up the parcel on Monday | I signed up for the race in spring
        | got a job interview next Tuesday | the baby is due in April | my parents are visiting us at Christmas | we're moving
        to a bigger flat next month | thinking of painting the bedroom this weekend | I've booked a table for Saturday | my
        brother is getting married in the autumn | my friend is moving abroad soon | I'm seeing the lawyer on the 17th |
        tomorrow I'm meeting an old classmate | I intend to quit my job after the summer | we hope to buy a house next year | my
        daughter starts school in August | I'm going to try to sleep earlier from now on | gym tonight then dinner with Lena | I
        have to hand in my thesis by the end of May | I start my new job on Monday | tickets for the festival are booked | vet
        with the cat on Thursday morning | grandma's birthday party is on Sunday, the whole family is coming | I'm gonna sort
        the garage at the weekend
    """),
    "workout": _lines("""
        I ran 8 km this morning | swam 30 lengths before breakfast | did an hour of yoga today | 40 minutes on the bike | we
        cycled 60 km along the coast | leg day done, 5 sets of squats | went bouldering for two hours with Tim | just finished a
        ten mile hike | 10k in 52 minutes | half an hour on the treadmill then weights | played tennis for ninety minutes
        yesterday | my first spin class today, 45 minutes | rowed 5000 metres at the gym | long walk of 12 km with the dog | 20
        minutes of stretching and 50 push-ups | did a triathlon on Sunday | jogged around the lake twice
    """),
    "life_event": _lines("""
        I moved to a new flat last week | we just moved house | my grandmother died yesterday | we lost our dog on Monday | I
        got a new job | they offered me the position | I got promoted | I was made redundant last month | I passed my driving
        test | I failed the exam | my sister had a baby | we got engaged | I broke my ankle | my father is in hospital | we
        adopted a puppy | I quit my job in May | I've given up smoking | I gave up drinking last year | we bought a house | I
        graduated last summer | my son won the chess tournament | my mum passed her exam | we went to Greece last month | I met
        someone on Saturday | my boyfriend and I broke up | I retired in spring | our daughter was born on Tuesday | I've just
        had surgery | my car was stolen last night | my brother helped me move the sofa | we celebrated our anniversary in Rome
        | I relocated for work | I shifted to another city last year | the doctor says I have diabetes | our team lost the final
        | my nephew started school | my best friend is getting divorced | we're going to have a baby | I won a prize | I bought
        a car yesterday | I sold my flat | I became an uncle
    """),
    "promise": _lines("""
        I promise to call you tonight | I'll bring the drinks, I promise | I promised my son I would take him to the zoo | I
        told Ana I'd help her move | I'll pay you back next week, you have my word | I swear I'll be there | don't worry, I will
        send you the file tomorrow | sure, I'll bake a cake for the party | of course, I'll look after the dog while you're away
        | I'll let you know by Friday | I gave my word that I'd finish it | yes I will water your plants | we promised the kids
        a trip to the sea | I owe you a dinner, I'll cook for you on Sunday
    """),
    "fact": _lines("""
        I live in Oslo | I'm from Brazil | my name is Jonas | I work as an architect | I'm a teacher at a village school | my
        sister is a lawyer | my brother lives in Vienna | I have two children | I have a dog called Rex | my wife's name is
        Clara | I'm 45 years old | I was born in 1980 | our cat is twelve | my parents come from Italy | I speak French and
        Arabic | I study chemistry | I work for a bank | he is a plumber | her birthday is in May | the meeting room is on the
        second floor | the train takes two hours | the museum opens at nine | my laptop has 16 GB of memory | the recipe needs
        two eggs | the library is next to the station | I use Python for work | this function returns a list | the server is
        down again | the price is 20 euros | here is the list | thank you for the help | ok sounds good | that makes sense | let
        me think about it | I don't know what to do | can you help me with this letter | I need a summary of this text | the
        weather is cold today | it rained all day | they sell good bread there | the film is about a war | the author was born
        in Wales | Paris is the capital of France | he said the shop is closed | my neighbour has a big car | my landlord is
        called Mr Brown | the teacher gave them homework | my boss lives in the suburbs | I used to live in Hull | I used to
        play the violin | I was a waiter when I was young | I had a rabbit as a child | my grandfather was a farmer | I'm not a
        doctor | I don't have a car | I have never been to Asia | I have no brothers or sisters | my house has three bedrooms |
        I own a bike | my computer is slow | I get paid on the last day of the month | I go to work by bus | our school has 600
        pupils | the kids are at school | she is on the phone | I think the answer is four | I guess it depends | it doesn't
        matter to me | I mean the second one | I sent the email | I read the report | I have a question about taxes | I need to
        know the address | I am looking for a good dentist | I'm at the office | I'm in a meeting | I'm waiting for the bus |
        I'm writing a letter | I'm trying to fix the printer | they live in a big house | the dog barks all night | his flight
        was late | the team plays in red | people say it's haunted | the doctor is nice | my phone number is 555 | the code is
        1234 | I have blue eyes | I am tall | I am Norwegian | I'm married with two kids | I'm the oldest of four | my uncle is
        a vet in Leeds | our teacher lives in Dover | his name is Peter | she works at the town hall | they moved to Spain | he
        was in the army | a friend of mine is a singer | the book costs ten pounds | the hotel was near the beach | the password
        needs eight characters | please translate this sentence | write a poem about the sea | in the story the hero is a thief
        | the song is from 1990 | the quote is by Twain | that was a joke | I was only kidding | I said it as an example | you
        are very kind | you should try it | good luck tomorrow | see you later | I'm allergic to bees | eggs give me a rash | I
        have asthma | I'm all ears | I have a car from 1999 | the clinic opens at eight | the shop is closed on Mondays | it
        takes an hour by train to the gym | the race is 10 miles long | my GP is Dr Jones | people call me the boss | the band
        broke up years ago | I had a meeting yesterday and it was fine | I'm a stay at home dad | I'm a housewife with three
        kids | I grew up by the sea | I have a class on Tuesdays | he keeps using my charger | my brother ran five miles | it's
        not your fault | she promised nothing | the song is sad | what a long film
    """),
}
"""By kind: the name of an event type, or ``fact``."""
