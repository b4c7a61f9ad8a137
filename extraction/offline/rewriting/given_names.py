"""Capitalises given names in texts without capitals ("my sister lena", "hi i'm tobias"), so that the forms of names can read them."""

import re
from typing import Final

from extraction.offline.grammar.patterns import any_of, listed
from extraction.offline.words.occupations import is_occupation
from extraction.offline.words.people import LOWER_CASE_NO_NAMES, NO_INTRODUCTIONS, NO_NAMES, PETS, RELATIVES, WHOSE
from extraction.offline.words.tastes import DIETS
from memory.texts.prefiltered_patterns import compiled

_GIVEN_NAMES: Final = listed("""
    aaron, abdul, adam, adela, adrian, agata, agnes, ahmed, aisha, akira, alba, alberto, aleksandra, alessandro, alessia, alex, alexander,
    alexandra, alfredo, alice, alicia, alina, alisha, alison, alvaro, amanda, amelia, amina, amir, amira, amit, ana, anastasia, anders,
    andrea, andreas, andrei, andrew, andrzej, angela, angelika, anika, anita, anja, anjali, anke, ann, anna, anneke, annette, annika,
    anouk, anton, antonia, antonio, anya, arjun, arne, arturo, asha, astrid, aurora, axel, ayesha, aylin, barbara, bartek, beata, beatrice,
    beatriz, ben, benedikt, benjamin, bernd, bianca, birgit, bjorn, bogdan, boris, brandon, brenda, brian, brigitte, bruno, camila,
    camille, carla, carlos, carmen, carolina, caroline, catarina, catherine, cecilia, celine, cem, charlotte, chiara, chloe, christian,
    christina, christoph, christopher, claire, clara, claudia, claudio, clemens, cristina, damian, daniel, daniela, danielle, daria, dario,
    darren, dave, david, deborah, deepak, denis, dennis, derek, diana, diego, dieter, dimitri, dmitri, dominik, dorothy, dorota, duncan,
    eduardo, edward, eileen, ekaterina, elena, eleni, eleanor, elias, elif, elin, elisa, elisabeth, elizabeth, ella, ellen, elodie, elsa,
    emil, emilia, emilie, emily, emma, emre, enrique, erica, erik, erika, ernesto, esra, esteban, esther, ethan, eva, evelyn, ewa, fabian,
    fabio, farah, fatima, federico, felipe, felix, fernanda, fernando, filip, fiona, florian, francesca, francesco, francisco, franz,
    frederik, frida, friedrich, fumiko, gabriel, gabriela, gareth, gemma, geoff, georg, george, georgia, gerald, gerhard, giorgio,
    giovanni, giulia, giuseppe, gloria, goran, gosia, greta, guido, guillermo, gunnar, gustav, habib, hana, hanna, hannah, hannes, hans,
    harald, haruto, hasan, hassan, heidi, heike, heinz, helen, helena, helga, henrik, henry, hiroshi, hugo, ibrahim, ida, ignacio, igor,
    ilona, ilse, ines, inga, ingrid, irena, irina, isabel, isabella, ivan, ivana, iwona, jakob, jakub, james, jan, jana, janek, janine,
    jasmin, javier, jean, jelena, jennifer, jenny, jens, jeremy, jerome, jessica, joanna, joao, joaquin, johan, johanna, johannes, john,
    jonas, jonathan, joanne, jorge, jose, josef, joseph, joshua, juan, juanita, julia, julian, juliette, jun, justyna, kai, kaja, kamil,
    karen, karin, karl, karolina, kasia, kasper, katarina, katarzyna, kate, katharina, katherine, kathrin, katie, katja, katrin, kaylee,
    keiko, kemal, kenji, kenneth, kerstin, kevin, khalid, kiran, klara, klaus, konrad, krystyna, krzysztof, kumar, lara, lars, laura,
    lauren, layla, lea, leila, lena, leo, leon, leonie, leticia, lia, liam, lidia, lina, linda, linnea, lisa, lorena, lorenzo, louis,
    louise, luca, lucas, lucia, lucie, luis, luisa, lukas, lukasz, luna, lydia, maciej, madeleine, magda, magdalena, magnus, maja, malik,
    malgorzata, manfred, manuel, manuela, marc, marcel, marcin, marco, marcos, marek, margaret, margit, margot, maria, mariam, marie,
    marija, marina, mario, marion, marius, marta, martha, martin, martina, mary, mateo, mateusz, mathias, mathilde, matteo, matthew,
    matthias, max, maxim, maya, mehmet, melanie, melissa, mia, michael, michal, michelle, miguel, mihai, mikael, mikhail, mila, milan,
    milena, mina, miriam, mohamed, mohammed, mohammad, monika, monique, murat, mustafa, nadia, nadine, naomi, natalia, natalie, natasha,
    nathan, nathalie, neha, niamh, nicola, nicolas, nicole, niklas, nikolai, nikos, nils, nina, noah, noemi, nora, nuno, oksana, oleg,
    olga, oliver, olivia, omar, oscar, oskar, pablo, paola, paolo, patricia, patryk, paul, paula, paulina, pavel, pawel, pedro, peter,
    petra, philip, philipp, pierre, pilar, piotr, priya, rachel, radek, rafael, rahul, raj, rajesh, ralf, ramon, raquel, rashid, raul,
    rebecca, renata, rene, ricardo, richard, riccardo, rita, robert, roberto, rohan, roland, rosa, rosalind, rosie, rolf, ruben,
    rudolf, ruth, ryan, sabine, sabrina, salma, samantha, samir, samuel, sandra, sanjay, sara, sarah, sasha, sebastian, selin, selma,
    serena, sergei, sergio, silke, silvia, simon, simone, sofia, sofie, sonia, sonja, sophia, sophie, stefan, stefania, stella, stephanie,
    stephen, steve, steven, sunita, susan, susanne, sven, svetlana, sylvia, szymon, tamara, tanja, tatiana, teresa, theo, theresa, thomas,
    thorsten, tim, tobias, tom, tomas, tomasz, tommy, torsten, tristan, tyler, ulrich, ursula, uwe, valentina, valeria, vanessa, vera,
    veronica, veronika, victor, victoria, viktor, viktoria, vincent, vikram, vladimir, walter, werner, wiktor, wilhelm, william, wojciech,
    wolfgang, xavier, yannick, yara, yasmin, yuki, yuri, yusuf, yvonne, zainab, zeynep, zofia, zoe, zuzana,
    abigail, alan, albert, alfie, andre, andy, angus, anthony, arthur, ashley, austin, becky, beth, bradley, brendan, bryan, caleb,
    callum, cameron, carl, carly, carol, casey, cassie, cheryl, chris, clive, cody, colin, connor, conor, corey, courtney, craig,
    curtis, cynthia, dana, danny, darnell, dawud, deandre, debbie, declan, dominic, donna, doreen, doug, douglas, dylan, eddie, ellie,
    elliot, eric, erin, evan, ewan, fergus, finlay, finn, francis, fred, freddie, gary, gavin, geraldine, gina, gordon, graham, greg,
    hamish, harriet, harry, harvey, hayley, henrietta, howard, ian, imogen, imran, isaac, isla, jackie, jacob, jada, jake, jamal,
    jamie, jared, jason, jayden, jeff, jesse, jill, jim, joe, joel, joey, jordan, josh, judith, justin, kareem, kayla, keisha, keith,
    kelly, ken, kerry, kieran, kim, kirsty, kyle, kylie, lamar, latoya, leroy, leslie, lewis, linford, logan, lorraine, lou, lucy,
    luke, lynn, mackenzie, malcolm, marcus, marlon, marvin, maureen, megan, mick, mike, mohsin, molly, morgan, muhammad, nabil, nancy,
    nathaniel, neil, nelson, niall, nicky, nigel, norman, omari, owen, paige, pamela, patrick, pauline, phil, phoebe, quentin, rashad,
    reggie, rhys, robbie, robin, rodney, roger, ronnie, rory, roxanne, russell, sally, sam, sammy, scott, sean, shane, shanice,
    shannon, sharon, shaun, sheila, shelley, sian, sinead, sonny, stacey, stan, stuart, tanya, tara, ted, terrence, terry, tiana,
    tiffany, tina, toby, todd, tony, tracey, tracy, travis, trevor, trisha, tyrone, valerie, wayne, wendy, wesley, whitney, yvette,
    zach, zack, zara, zoey
""")
"""Names that are no English words."""
_PET_NAMES: Final = listed("""
    rufus, milo, nala, simba, fido, bella, balu, rex, otis, loki, zeus, odin, thor, mochi, yoshi, rocco, minka, bonnie, ziggy, coco, kiki,
    momo, pipo, tofu, waffles, snoopy, garfield, lola, luna, leo, bruno, felix, oscar, oskar, max, hugo
""")
_NO_STATES: Final = listed("""
    broke, broken, far, away, alive, awake, asleep, alone, abroad, angry, anxious, afraid, ashamed, average, bald, better, blind, blonde,
    bright, brand, calm, certain, clear, clever, cold, cool, cranky, dead, deaf, dizzy, drunk, dumb, dutch, eager, early, easy, elderly,
    exhausted, fat, fed, firm, fit, fond, full, funny, gone, greek, grumpy, half, healthy, hot, human, inside, jealous, kind, lame, large,
    lonely, loud, low, mad, mean, middle, moody, mortal, nearly, nervous, normal, nuts, numb, online, open, outside, over, poor, positive,
    proud, quick, quiet, quick, rich, safe, sane, shy, silent, slim, slow, small, smart, sober, sore, strong, swiss, tall, thin, thirsty,
    tight, tough, type, under, unsure, unwell, up, upset, used, warm, weak, weary, wide, wild, young, free, left, right, first, last, yours,
    straight, nonbinary, bi, bipolar, pro, anti, one, two, male, female, human, english, french, german, spanish, russian, polish, thai,
    czech, welsh, scottish, irish, finnish, chinese, japanese, hers, his, made, born, set, cut, hurt, torn, worn, sunk, due, keen, into,
    team, like, all, about, both, down, no, yet, then, more, most, much, always, never, often, maybe, probably, almost, actually, basically,
    desperate, freelance, honest, sleepy, clumsy, messy, needy, nosy, picky, fussy, dyslexic, homesick, seasick, gluten, celiac
""")
"""Words after "I'm" that are no names."""
_GIVEN: Final = any_of(_GIVEN_NAMES)
_OF_MINE: Final = compiled(
    rf"(?P<before>\b(?:my|our) (?:{any_of(WHOSE)} )*(?:{any_of(RELATIVES)}),? (?:(?:called"
    rf"|named) )?)(?P<name>(?-i:{_GIVEN}))\b(?!['’-]?\w)",
    re.IGNORECASE,
)
_OF_MY_PET: Final = compiled(
    rf"(?P<before>\b(?:my|our) (?:{any_of(WHOSE)} )*(?:{any_of(PETS)}),? (?:(?:called|named) )?)"
    rf"(?P<name>(?-i:{any_of(_PET_NAMES, _GIVEN_NAMES)}))\b(?!['’-]?\w)",
    re.IGNORECASE,
)
_NO_PET_NAME: Final = any_of(
    listed("""
    food, bed, bowl, collar, walker, sitter, vet, training, toy, toys, lead, leash, park, hair, person, owner, poo, also, still, just,
    always, never, now, only, really, both, often, even, who, that, which, is, has, was, and, or, but, what, yesterday, today, then,
    usually, already, once, actually, tail, allergy, allergies, costume, tattoo, insurance,
    shelter, show, video, videos, photo, lover, phobia, rescue, hotel, groomer, mum, mom, dad, problem, situation, thing,
    cafe, business, shop
""")
)
_MY_PET_ACTS: Final = compiled(
    rf"(?P<before>\b(?:my|our) (?:{any_of(WHOSE)} )*(?:{any_of(PETS)}) )(?P<name>(?-i:(?!{_NO_PET_NAME}\b)[a-z]{{3,12}}(?<!ly)))"
    r"(?= (?:ate|is|has|loves|hates|barks|snores|sleeps|keeps|chewed|died|needs|likes|just|escaped|sheds|refuses|won['’]t|doesn['’]t)\b)",
    re.IGNORECASE,
)
_BEGIN: Final = (
    r"(?P<before>(?:^\W*|(?<=[.!?\n])\s*)(?P<greet>(?:(?:hi|hello|hey|hiya|heya|yo|good (?:morning|evening|afternoon)|howdy)(?: there| all"
    r"| everyone| guys| folks| again)?|nice to meet you(?: all)?|pleased to meet you)[\s,!.—–-]+)*(?:i['’]?m|i am) )"
)
_I_AM_GIVEN: Final = compiled(
    rf"{_BEGIN}(?P<name>(?-i:{_GIVEN}))(?=\s*(?:[.,!;)—–]|$|\n)|\s+(?:and|from|here|btw|by the way|nice to|pleased to)\b)",
    re.IGNORECASE,
)
_I_AM_UNKNOWN: Final = compiled(
    rf"{_BEGIN}(?P<name>(?-i:(?!{any_of(_NO_STATES, NO_INTRODUCTIONS, NO_NAMES, LOWER_CASE_NO_NAMES, DIETS)}\b)[a-zà-ÿ]{{3,14}}"
    r"(?<!ing)(?<!ed)(?<!ful)(?<!ous)(?<!able)(?<!less)(?<!ish)(?<!ese)(?<!ian)(?<!ican)(?<!ive)(?<!ic)(?<!ly)(?<!some)(?<!ant)(?<!ent)))"
    r"(?P<rest>,? (?:aged? )?[1-9]\d(?=\s*(?:[.,!]|$)|\s(?:and|from|years)\b)"
    r"|,? (?:and )?(?:i live|i work|i['’]?m an?|i am an?|my name)\b|,? (?:nice|pleased|good|glad) to meet\b)",
    re.IGNORECASE,
)
"""A word that may be a name, with an age, a statement about oneself, or "nice to meet you" after it."""


def with_names_capitalised(text: str) -> str:
    """A message with such names in capitals. Only facts are read from it.

    Args:
        text: A message, or the part of it in the speaker's own voice.
    """
    for pattern in (_OF_MINE, _OF_MY_PET, _MY_PET_ACTS):
        text = pattern.sub(lambda found: found["before"] + found["name"].capitalize(), text)
    text = _I_AM_GIVEN.sub(_introduced, text, count=1)
    return _I_AM_UNKNOWN.sub(_introduced_so, text, count=1)


def _introduced(found: re.Match[str]) -> str:
    space = found["before"][: len(found["before"]) - len(found["before"].lstrip())]
    return f"{space}Hi, I'm {found['name'].capitalize()}"


def _introduced_so(found: re.Match[str]) -> str:
    is_age = any(each.isdigit() for each in found["rest"])
    if is_occupation(found["name"]) or not (is_age or found["greet"]):
        return found.group()
    return f"Hi, I'm {found['name'].capitalize()}{found['rest']}"
