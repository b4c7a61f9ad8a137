"""Words of statements about where somebody lives."""

from typing import Final

from extraction.offline.grammar.patterns import listed

SETTLEMENTS: Final = listed("""
    village, town, city, place, hamlet, island, suburb, district, neighbourhood, neighborhood, municipality, commune, port
""")
"""Nouns for the kind of place where one lives."""
DWELLINGS: Final = listed("""
    home, house, flat, apartment, place, cottage, studio, farm, farmhouse, room, houseboat, condo, bungalow, base, address, loft,
    townhouse, studio flat, caravan, cabin, maisonette, bedsit, croft, narrowboat, yurt, chalet, villa, digs, barn, smallholding,
    barge, dorm, dorm room
""")
"""Nouns for a home."""
SECOND_HOMES: Final = listed("holiday, summer, second, weekend, vacation, rental, spare")
"""Before "house" or "flat", they make it no home."""
PARTS_OF_TOWNS: Final = listed("""
    north, south, east, west, centre, center, outskirts, suburb, suburbs, old town, middle, edge, heart, countryside, area, region,
    hill, hills, part, side
""")
"""In "the north of Leeds", "on the outskirts of Graz"."""
PLACE_PREPOSITIONS: Final = listed("""
    in, at, on, out of
""")
"""Before the name of the place where one lives."""
BESIDE: Final = listed("""
    across, across from, overlooking, down by, in, on, at, above, with, near, up, behind, next to, between, by, beside, close to,
    opposite, under, along, off, over, below, just off, right by
""")
"""Prepositions of where in a town one lives."""
NO_SURROUNDINGS: Final = listed("""
    if, that, when, who, because, until, i, we, he, she, hope, fear, dream, dreams, head, mind, heart
""")
"""Words that make "in ..." after "I live" another clause or a state of mind."""
DIRECTIONS: Final = listed("back, over, here, out, down, up, away, house, home, again, across, all the way")
"""May stand between "I moved" and the place."""
HOUSEHOLD: Final = listed("""
    over, up, down, back, way, right, deep, here, over here, together, alone, by myself, on my own, full-time, part-time, happily, up
    north, down south, abroad, out
""")
"""May stand between "I live" and the place."""
