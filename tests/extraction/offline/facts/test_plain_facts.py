"""Profile facts come from plain statements only: every other mood of the same words states nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extraction.offline.facts.plain_facts import facts_of
from extraction.offline.factuality.moods import plain_sentences
from tests.growth import LINEAR, growth


def stated(*messages: str) -> list[tuple[str, str]]:
    return [(fact.field.name.lower(), fact.value) for fact in facts_of(plain_sentences(messages))]


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("I live in Antwerp.", [("home", "Antwerp")]),
        ("I play the cello and I live in Gera.", [("habit", "play the cello"), ("home", "Gera")]),
        ("We improvise a lot. I live in Gera.", [("home", "Gera")]),
        ("I'm based out of Regina.", [("home", "Regina")]),
        ("I live with two friends in Clonmel for now.", [("home", "Clonmel")]),
        ("It was Gera before, now I live in Jena and swim daily.", [("home", "Jena")]),
        ("Things changed: I moved to Ruse three weeks ago.", [("home", "Ruse")]),
        ("Just a quick reminder that I'm allergic to penicillin.", [("allergy", "penicillin")]),
        ("I'm allergic to parsley, which no one ever expects.", [("allergy", "parsley")]),
        ("By night I'm working as a radio operator.", [("occupation", "radio operator")]),
        ("We live in Malaga these days, with our cat Pepe.", [("home", "Malaga"), ("relation", "Pepe")]),
        ("I've lived in Graz for eight years.", [("home", "Graz")]),
        ("I live in a small flat in Ljubljana.", [("home", "Ljubljana")]),
        ("By the way, I moved to Tampere last month.", [("home", "Tampere")]),
        ("i live in lisbon", [("home", "lisbon")]),
        ("Hi, I'm Katarina, I'm a high school teacher.", [("name", "Katarina"), ("occupation", "high school teacher")]),
        ("Please call me Theo.", [("name", "Theo")]),
        ("I work full time as a pastry chef.", [("occupation", "pastry chef")]),
        ("I'm a taxidermist by trade.", [("occupation", "taxidermist")]),
        ("I'm severely allergic to kiwi and avocado.", [("allergy", "kiwi and avocado")]),
        ("I've been vegetarian for six years.", [("diet", "vegetarian")]),
        ("I never drink coffee.", [("avoid", "coffee")]),
        ("I love my garden, but I hate weeds.", [("like", "my garden"), ("dislike", "weeds")]),
        ("I like C# but I can't stand C++.", [("like", "C#"), ("dislike", "C++")]),
        ("Did you know that my son Leo plays the drums?", [("relation", "Leo")]),
        ("I'm a beekeeper, believe it or not.", [("occupation", "beekeeper")]),
        ("I became a farrier two years ago.", [("occupation", "farrier")]),
        ("As for work: I'm a luthier.", [("occupation", "luthier")]),
        ("Coeliac here.", [("diet", "Coeliac")]),
        ("Not a fan of opera.", [("dislike", "opera")]),
        ("I don't like lifts. No clue why.", [("dislike", "lifts")]),
        ("Everybody calls me Nel, you can too.", [("name", "Nel")]),
        ("I'm called Aoife, not Eva, please.", [("name", "Aoife")]),
        ("I have a daughter, Mina, who sings.", [("relation", "Mina")]),
        ("I adopted a tabby called Juno from the shelter in May.", [("relation", "Juno")]),
        ("We've got a turtle named Otis.", [("relation", "Otis")]),
        ("I live on the outskirts of Liège.", [("home", "Liège")]),
        ("I live a ten minute walk from the port in Whitby.", [("home", "Whitby")]),
        ("Been living in Salto for six years.", [("home", "Salto")]),
        ("Sarajevo is my home now.", [("home", "Sarajevo")]),
        ("I call Kirkwall home.", [("home", "Kirkwall")]),
        ("I'm a Leipzig-based illustrator.", [("home", "Leipzig"), ("occupation", "illustrator")]),
        ("I live in Trier, why do you ask?", [("home", "Trier")]),
        ("As I live in Bodø, the nights are long.", [("home", "Bodø")]),
        ("Good morning! Ottoline here.", [("name", "Ottoline")]),
        ("my name is leila", [("name", "leila")]),
        ("My name is Brian.", [("name", "Brian")]),
        ("I work in logistics.", [("occupation", "logistics")]),
        ("I work in a bakery.", [("occupation", "in a bakery")]),
        ("I carve spoons for a living.", [("occupation", "carve spoons")]),
        ("I work for the port as a dispatcher.", [("occupation", "dispatcher")]),
        ("Just started a job as a barista.", [("occupation", "barista")]),
        ("I'm an oyster farmer and need an invoice template.", [("occupation", "oyster farmer")]),
        ("I have hay fever and a latex allergy.", [("allergy", "latex")]),
        ("My nut allergy is severe.", [("allergy", "nut")]),
        ("I've gone vegetarian.", [("diet", "vegetarian")]),
        ("I follow a gluten-free diet.", [("diet", "gluten-free")]),
        ("No coriander for me, please.", [("avoid", "coriander")]),
        ("I'm a cat person.", [("like", "cat")]),
        ("Rhubarb is my favourite fruit.", [("like", "Rhubarb")]),
        ("I've always hated turnips.", [("dislike", "turnips")]),
        ("Crowds aren't my thing.", [("dislike", "Crowds")]),
        ("I have two sons, Aurel and Jasper.", [("relation", "Aurel"), ("relation", "Jasper")]),
        ("We got a kitten! Her name is Miso.", [("relation", "Miso")]),
        ("I adopted a greyhound, she's called Nettle.", [("relation", "Nettle")]),
        ("Imogen is officially my wife!", [("relation", "Imogen")]),
        ("Haha yes. Anyway, I live in Ribe now.", [("home", "Ribe")]),
    ],
)
def test_a_plain_statement_is_read(text: str, facts: list[tuple[str, str]]) -> None:
    assert stated(text) == facts


@pytest.mark.parametrize(
    "text",
    [
        "If I lived in Paris, I'd bike more.",  # conditional
        "I wish I lived in Rome.",  # wished
        "Suppose I work as a lawyer.",  # supposed
        "I might move to Oslo.",  # possible
        "I'm moving to Seoul in June.",  # future
        "I used to live in Prague.",  # past
        "I lived in Athens for ten years.",
        "I live in Paris until June.",
        "I don't live in Vienna.",  # negated
        "I never said I was a vegetarian.",  # denied
        "Do I live in Bern?",  # asked
        "My brother lives in Quebec.",  # somebody else's
        "My mother says: I'm allergic to bees.",  # reported
        '"I live in Nice", she said.',  # quoted
        "> I live in Graz\nLucky you!",
        "Tom: I live in Lima\nEva: I live in Rome\nFunny, right?",
        "-------- Forwarded Message --------\nFrom: Eva <eva@example.com>\n\nMy name is Eva and I live in Vienna.",
        "See you!\n\nOn Mon, May 6, 2024 at 10:12 AM Tom Berg <tom@example.com> wrote:\n> I live in Madrid now.",
        "Can you answer this?\n\nDear all,\nI am a farmer.",
        "Translate this to German: I live in Hamburg.",  # to be processed
        "Please fix the grammar.\nI am a driver, I live in Sofia.",
        "Let's do a role play. You are a waiter. I'm allergic to fish.",  # played
        "In my novel the hero says: I live in Narnia.",  # fiction
        "Improvise a job interview. I'm Dora, I love gin, I work as a pilot. Begin!",
        "Help me practise a phone call. I live in Derby.",
        "Oh great, I just love traffic jams.",  # ironic
        "Right, and I live in Windsor with ten butlers.",
        "I'm allergic to parsley, which is a lie.",
        "You're Thelma. I'm Louise. I live in Tucson.",
        "Of course, because I live in Cannes.",
        "I live in Dover, on paper.",
        "I live in Siena in my mind.",
        "I live in Calais, not.",
        "I live in Rome. Just kidding.",
        "I'm allergic to Mondays.",  # idiom
        "I'm a gardener because I dig it.",  # pun
        "My home is in ruins.",
        "His answers: I live in Kyiv, I hate onions.",  # somebody else's first person
        "Cover letter by my niece: I'm a welder and I love steel.",
        "How is 'my son's name is Bo' said in Thai, please",
        "Change the tense here: I live in Turin, my wife Ada paints.",
        "The man at the counter introduced himself: my name is Rex.",
        "From my landlord: I live in Spain, call me Paco.",
        "This is what she posted. I'm a nurse and I live in Olomouc.",
        "Write a toast for my boss. I love this town.",
        "I'm a baker, am I?",  # asked
        "I lived and worked as a cook in Faro.",  # past
        "I moved to Ghent in 2010 and left again in 2014.",
        "I'm a vegetarian... between meals.",  # taken back
        "I'm a light sleeper.",  # trait
        "I'm an aspiring actor.",
        "I'm a chauffeur for my children.",  # joke
        "I work as a professional napper.",
        "I'm the captain of this ship.",  # metaphor
        "I'm a pressure cooker today.",
        "I work as fast as I can.",
        "I live in wonderland.",
        "We Live in Time made me cry.",  # title
        "My Cousin Vinny is a good film.",
        "I love the curtains.",  # in the conversation
        "I love gravity.",
        "I dreamt last night. I live in a castle and my name is Ludwig.",
        "Be my interviewer. I'm a cook.",
        "Word is that I live in Monaco.",
        "Our new hire introduced herself. My name is Ola, I'm a designer.",
        "My daughter wrote this for school. I love ponies.",
        "Guess which is true. I'm a pilot. I live in Bern.",
        "tl;dr please. Hi, I'm Devin, I live in Spokane.",
        "I'm a firm believer in tea.",
        "I prefer the second one.",  # about the conversation
        "Call me later.",
        "Call me a taxi, please.",
        "I am a vegetarian when it suits me.",  # limited
        "Vivo en Madrid y me gusta el té.",  # another language
        '```\nname = "I live in Bonn"\n```',  # code
        '{"name": "Sven", "bio": "I live in Uppsala"}',
        "I'm Morgana the vampire queen and I hate sunlight. Continue the scene.",
    ],
)
def test_other_moods_state_nothing(text: str) -> None:
    assert stated(text) == []


@pytest.mark.parametrize(
    ("messages", "facts"),
    [
        (["I live in Berlin. No wait, I meant Bern."], [("home", "Bern")]),
        (["I live in Berlin.", "Sorry, Bern."], [("home", "Bern")]),
        (["I live in Wels.", "Sorry, typo: I live in Weiz."], [("home", "Weiz")]),
        (["I live in Oslo, no, in Bergen."], [("home", "Bergen")]),
        (["I'm a baker. Scratch that, I'm a butcher."], [("occupation", "butcher")]),
        (["My sister is called Anja.", "*Anya"], [("relation", "Anya")]),
        (["My name is Sara. Oops, that's my sister's."], []),
        (["I'm allergic to shrimp. Hm, no, I meant squid."], [("allergy", "squid")]),
    ],
)
def test_a_correction_replaces_or_removes(messages: list[str], facts: list[tuple[str, str]]) -> None:
    assert stated(*messages) == facts


def test_a_role_continues_in_later_messages() -> None:
    assert stated("Let's play a game, I'm the innkeeper.", "I live in Waterdeep.") == []
    assert stated("Let's play a game, I'm the innkeeper.", "Game over.", "I live in Oslo.") == [("home", "Oslo")]


@given(st.lists(st.text(max_size=120) | st.sampled_from(["I live in ", "my name is ", "no wait, ", "I'm allergic to "]), max_size=6))
def test_any_text_is_read_without_an_error(parts: list[str]) -> None:
    stated("".join(parts))


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("my name is Ilse i live in Gera and i am allergic to figs", [("name", "Ilse"), ("home", "Gera"), ("allergy", "figs")]),
        ("I'm a vegan cook living in Gera.", [("occupation", "vegan cook"), ("home", "Gera")]),
        ("Hi, I'm Ilse, a baker from Gera.", [("name", "Ilse"), ("occupation", "baker")]),
        ("I'm a mother and a paralegal.", [("occupation", "paralegal")]),
        ("As a paramedic I work nights.", [("occupation", "paramedic")]),
        ("I've been in Gera since 2011.", [("home", "Gera")]),
        ("My name is not Anke, it's Ilse.", [("name", "Ilse")]),
        ("My sister's name is Ilse, no, Elsa.", [("relation", "Elsa")]),
        ("I loathe cycling in the rain.", [("dislike", "cycling in the rain")]),
        ("My fav snack is popcorn.", [("like", "My fav snack is popcorn")]),
        ("Have been residing in Gera for years.", []),
        ("My sister is a nurse, living in Gera.", []),
        ("As a nurse you need strong shoes.", []),
        ("As a waiter I hated Sundays.", []),
        ("I'm a first time buyer.", []),
        ("I can't stand up straight.", []),
        ("My old boss Trevor was awful.", []),
        ("Neither my aunt nor I live in Gera.", []),
        ("You are Tim and I am Kim. I live in Gera.", []),
        ("Caption: I live in Gera.", []),
        ("Post this for me: I moved to Gera!", []),
        ("I love living here.", []),
    ],
)
def test_statements_in_everyday_words(text: str, facts: list[tuple[str, str]]) -> None:
    assert sorted(stated(text)) == sorted(facts)


def test_many_statements_without_stops_are_bounded() -> None:
    assert len(stated("i live in Gera i am a baker " * 2000)) <= 2


def test_many_facts_in_one_sentence_take_linear_time() -> None:
    assert growth(stated, lambda size: ", and the B upon Boyne has been my home" * size + "x" * 100 * size, size=100) < LINEAR
