"""Numbers between two bounds as grammar: digit by digit, because a grammar cannot compare."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal, localcontext
from itertools import groupby, takewhile
from math import ceil, floor

from turnspec.grammar.text import choice, group, literal

_DIGITS = "[0-9]"
_ANY_FRACTION = '( "." [0-9]+ )?'


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a number may be: None is no bound, and a strict one leaves the bound itself out."""

    low: Decimal | None = None
    high: Decimal | None = None
    low_strict: bool = False
    high_strict: bool = False

    def is_open(self) -> bool:
        """Say whether any number fits."""
        return self.low is None and self.high is None

    def is_empty(self) -> bool:
        """Say whether no number fits."""
        if self.low is None or self.high is None:
            return False
        strict = self.low_strict or self.high_strict
        return self.low > self.high or (strict and self.low == self.high)

    def negated(self) -> Bounds:
        """Return the bounds of the same numbers with the other sign."""
        low = None if self.high is None else self.high.copy_negate()
        high = None if self.low is None else self.low.copy_negate()
        return Bounds(low, high, self.high_strict, self.low_strict)

    def shortened(self, places: int, digits: int) -> Bounds:
        """Return bounds that are not wider, and quicker to write.

        They have at most so many ``places`` behind the point, and nothing but zeros behind the
        first so many ``digits``.
        """
        low, low_strict = _raised(self.low, self.low_strict, places, digits)
        below = None if self.high is None else self.high.copy_negate()
        high, high_strict = _raised(below, self.high_strict, places, digits)
        return Bounds(low, None if high is None else high.copy_negate(), low_strict, high_strict)

    def not_below(self, low: Decimal, *, strict: bool) -> Bounds:
        """Return these bounds with one more lower bound."""
        if self.low is None or low > self.low:
            return Bounds(low, self.high, strict, self.high_strict)
        either = self.low_strict or (strict and low == self.low)
        return Bounds(self.low, self.high, either, self.high_strict)

    def not_above(self, high: Decimal, *, strict: bool) -> Bounds:
        """Return these bounds with one more upper bound."""
        return self.negated().not_below(high.copy_negate(), strict=strict).negated()


def is_long(bound: Decimal, digits: int, *, strict: bool) -> bool:
    """Say whether a bound isn't written as it is for its digits before the point."""
    size = bound.copy_abs()
    return size.adjusted() >= digits and _raised(size, strict, 0, digits) != (size, strict)


def _raised(
    low: Decimal | None, strict: bool, places: int, digits: int
) -> tuple[Decimal | None, bool]:
    """Return a lower bound that is shorter, raised if need be, and whether it is strict."""
    if low is None:
        return None, False
    whole_digits = low.adjusted() + 1
    exponent = whole_digits - digits if whole_digits > digits else -places
    last = Decimal(1).scaleb(exponent)
    with localcontext() as context:
        context.prec = 1_000
        short = low.quantize(last, ROUND_CEILING)
        if short != low:
            return short, False
        # The next whole number would be a long one.
        return (low + last, False) if strict and exponent > 0 else (low, strict)


def repeat(least: int, most: int | None) -> str:
    """Return the sign behind something that comes ``least`` to ``most`` times."""
    signs = {(0, None): "*", (1, None): "+", (0, 1): "?", (1, 1): ""}
    if (least, most) in signs:
        return signs[least, most]
    if most is None:
        return f"{{{least},}}"
    return f"{{{least}}}" if least == most else f"{{{least},{most}}}"


def integers(bounds: Bounds) -> str:
    """Return whole numbers within the bounds, as alternatives; empty if there are none."""
    below = _naturals(*_whole(bounds.negated(), least=1))
    return _signed(_naturals(*_whole(bounds, least=0)), below)


def numbers(bounds: Bounds) -> str:
    """Return numbers within the bounds, written without an exponent; empty if there are none."""
    below = _magnitudes(bounds.negated().not_below(Decimal(0), strict=True))
    return _signed(_magnitudes(bounds.not_below(Decimal(0), strict=False)), below)


def _signed(above: Iterable[str], below: Iterable[str]) -> str:
    minus = group(below)
    return choice([*above, *([f'"-" {minus}'] if minus else [])])


def hexadecimals(low: int, high: int) -> list[str]:
    """Return the four digits, in either case, of the numbers from ``low`` to ``high``."""
    return _between(_digits(f"{low:04x}"), _digits(f"{high:04x}"), 16)


def _digits(written: str) -> list[int]:
    return [int(digit, 16) for digit in written]


def _whole(bounds: Bounds, *, least: int) -> tuple[int, int | None]:
    """Return the smallest and largest whole number from ``least`` on within the bounds."""
    low, high = least, None
    if bounds.low is not None:
        first = ceil(bounds.low)
        low = max(low, first + (bounds.low_strict and first == bounds.low))
    if bounds.high is not None:
        last = floor(bounds.high)
        high = last - (bounds.high_strict and last == bounds.high)
    return low, high


def _naturals(low: int, high: int | None) -> Iterator[str]:
    """Yield whole numbers from ``low`` (0 or more) to ``high`` by their number of digits."""
    if low == 0 and (high is None or high >= 0):
        yield '"0"'
        low = 1
    if high is not None and low > high:
        return
    size = len(str(low))
    longest = None if high is None else len(str(high))
    if size != longest and low != 10 ** (size - 1):
        yield from _between(_digits(str(low)), [9] * size, 10)
        size += 1
        low = 10 ** (size - 1)
    if high is None or longest is None:
        yield f"[1-9]{_run(size - 1, None)}"
        return
    if size < longest:  # all of those lengths in one
        yield f"[1-9]{_run(size - 1, longest - 2)}"
        low = 10 ** (longest - 1)
    yield from _between(_digits(str(low)), _digits(str(high)), 10)


def _run(least: int, most: int | None) -> str:
    return "" if most == 0 else f" {_DIGITS}{repeat(least, most)}"


def _between(low: Sequence[int], high: Sequence[int], base: int) -> list[str]:
    """Return the digits of the numbers between two that have the same number of digits."""
    same = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(low, high, strict=True))))
    if same:  # all at once, as bounds may have hundreds of digits
        options = _between(low[same:], high[same:], base) if same < len(low) else []
        for digit in reversed(low[:same]):
            options = [f"{_digit(digit, digit, base)} {group(options)}".rstrip()]
        return options
    (first, *above), (last, *below) = low, high
    rest, top = len(above), base - 1
    if not rest:
        return [_digit(first, last, base)]
    found, end = [], []
    if any(above):
        behind = _between(above, [top] * rest, base)
        found.append(f"{_digit(first, first, base)} {group(behind)}")
        first += 1
    if below != [top] * rest:
        behind = _between([0] * rest, below, base)
        end.append(f"{_digit(last, last, base)} {group(behind)}")
        last -= 1
    if first <= last:
        found.append(f"{_digit(first, last, base)} {_digit(0, top, base)}{repeat(rest, rest)}")
    return found + end


def _digit(low: int, high: int, base: int) -> str:
    """Return one digit from ``low`` to ``high``; a letter in either case."""
    if low == high and low < 10:
        return literal(str(low))
    decimal = f"{_span(48 + low, 48 + min(high, 9))}" if low < 10 else ""
    if base == 10 or high < 10:
        return f"[{decimal}]"
    upper, lower = (_span(start + max(low, 10) - 10, start + high - 10) for start in (65, 97))
    return f"[{decimal}{upper}{lower}]"


def _span(low: int, high: int) -> str:
    return chr(low) if low == high else f"{chr(low)}-{chr(high)}"


def _magnitudes(bounds: Bounds) -> Iterator[str]:
    """Yield numbers of 0 or more: those at the bounds, and all between them."""
    if bounds.is_empty() or bounds.low is None:
        return
    first = int(bounds.low)
    last = None if bounds.high is None else int(bounds.high)
    low = _fraction_digits(bounds.low)
    high = None if bounds.high is None else _fraction_digits(bounds.high)
    if first == last:
        fraction = _Fraction(low, high, bounds.low_strict, bounds.high_strict)
        yield from _with_fraction(first, fraction)
        return
    if low or bounds.low_strict:
        yield from _with_fraction(first, _Fraction(low, None, bounds.low_strict, False))
        first += 1
    if between := group(_naturals(first, None if last is None else last - 1)):
        yield f"{between} {_ANY_FRACTION}"
    if last is not None:
        yield from _with_fraction(last, _Fraction(None, high, False, bounds.high_strict))


def _fraction_digits(number: Decimal) -> str:
    return f"{number:f}".partition(".")[2].rstrip("0")


def _with_fraction(whole: int, fraction: _Fraction) -> Iterator[str]:
    if fraction.may_end():
        yield literal(str(whole))
    if digits := group(fraction.digits()):
        yield f"{literal(f'{whole}.')} {digits}"


@dataclass(frozen=True, slots=True)
class _Fraction:
    """The digits still to come behind a decimal point; a bound has endless zeros behind it.

    None is no bound: what was written so far has already decided.
    """

    low: str | None
    high: str | None
    low_strict: bool
    high_strict: bool

    def may_end(self) -> bool:
        """Say whether the bounds allow zeros from here on, which need not be written."""
        above = self.low is None or (not self.low and not self.low_strict)
        below = self.high is None or bool(self.high) or not self.high_strict
        return above and below

    def digits(self) -> list[str]:
        """Return one digit or more, as alternatives."""
        if self.high == "":
            return ['"0"+'] if self.may_end() else []
        if self.high is None and not self.low:
            return ["[0-9]+" if self.may_end() else '"0"* [1-9] [0-9]*']
        followers = [(digit, self._after(digit)) for digit in range(10)]
        options = []
        for after, grouped in groupby(followers, key=lambda pair: pair[1]):
            found = [digit for digit, _ in grouped]
            tail = after and after.tail()
            if tail is not None:
                options.append(f"{_digit(found[0], found[-1], 10)} {tail}".rstrip())
        return options

    def tail(self) -> str | None:
        """Return what may follow, nothing being one of it if possible; None if nothing can."""
        options = self.digits()
        if not options:
            return "" if self.may_end() else None
        if not self.may_end():
            return group(options)
        return f"{options[0][:-1]}*" if options in (["[0-9]+"], ['"0"+']) else group(options, "?")

    def _after(self, digit: int) -> _Fraction | None:
        low, high = self.low, self.high
        if low is not None:
            first = int(low[:1] or "0")
            if digit < first:
                return None
            low = low[1:] if digit == first else None
        if high is not None:
            first = int(high[:1] or "0")
            if digit > first:
                return None
            high = high[1:] if digit == first else None
        return _Fraction(low, high, self.low_strict, self.high_strict)
