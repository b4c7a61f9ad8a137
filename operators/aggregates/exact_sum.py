"""Exact count and sum of numbers, without rounding.

A double is an integer divided by a power of two, and so is every sum of doubles: ``[count, numerator, shift]`` is ``numerator / 2**shift``,
in lowest terms. Addition is therefore exact, commutative and invertible: neither order nor retractions change the result. The numerator has
at most about 2,100 bits plus the logarithm of the count.
"""

import math
from fractions import Fraction
from typing import Any

from operators.errors import RefusedChangeError

ExactSum = list[Any]
"""``[count, numerator, shift]`` as JSON. A numerator beyond 64 bits is hexadecimal text."""

_INT64_MIN = -(2**63)
_INT64_MAX = 2**63 - 1


def as_number(value: object) -> int | float:
    """A number in its canonical form: whole floats as integers if they fit in 64 bits, so that equal numbers have equal bytes.

    Raises:
        RefusedChangeError: ``not_a_number``, if the value is not a number, not finite, or an integer beyond 64 bits.
    """
    if isinstance(value, float) and math.isfinite(value):
        return int(value) if value.is_integer() and _INT64_MIN <= value < _INT64_MAX else value
    if isinstance(value, int) and not isinstance(value, bool) and _INT64_MIN <= value <= _INT64_MAX:
        return value
    raise RefusedChangeError("not_a_number")


def add(total: ExactSum | None, number: int | float, times: int) -> ExactSum | None:
    """The sum after a number is added ``times`` times (negative: retracted); None if nothing is left."""
    count, numerator, shift = (total[0], _unpack(total[1]), total[2]) if total else (0, 0, 0)
    top, bottom = number.as_integer_ratio()
    return _sum(count + times, numerator, shift, times * top, bottom.bit_length() - 1)


def merged(one: ExactSum | None, other: ExactSum | None) -> ExactSum | None:
    """The combined sum; None if nothing is left."""
    if one is None or other is None:
        return other if one is None else one
    return _sum(one[0] + other[0], _unpack(one[1]), one[2], _unpack(other[1]), other[2])


def count_of(total: ExactSum) -> int:
    """The number of summed numbers."""
    return int(total[0])


def fraction_of(total: ExactSum) -> Fraction:
    """The exact sum."""
    return Fraction(_unpack(total[1]), 1 << total[2])


def rounded(number: Fraction) -> int | float | None:
    """The nearest JSON number: an integer for a whole number, else a double; None beyond the range of doubles."""
    if number.denominator == 1:
        return number.numerator
    try:
        return float(number)
    except OverflowError:
        return None


def _sum(count: int, numerator: int, shift: int, other: int, other_shift: int) -> ExactSum | None:
    """``numerator / 2**shift + other / 2**other_shift``, in lowest terms."""
    if other_shift > shift:
        numerator <<= other_shift - shift
        shift = other_shift
    numerator += other << (shift - other_shift)
    if shift:
        spare = min(shift, (numerator & -numerator).bit_length() - 1) if numerator else shift
        numerator >>= spare
        shift -= spare
    return [count, _pack(numerator), shift] if count or numerator else None


def _pack(number: int) -> int | str:
    return number if _INT64_MIN <= number <= _INT64_MAX else f"{number:x}"


def _unpack(number: int | str) -> int:
    return int(number, 16) if isinstance(number, str) else number
