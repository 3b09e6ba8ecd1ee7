# SPDX-License-Identifier: BSD-3-Clause
"""
The result of a paper's module: rows of a table, and figures as data.

A row with a published figure has a criterion by which the two agree.  A check of our own has a
criterion but no published figure, and is counted separately.
"""

from __future__ import annotations

import operator
import re
from collections import namedtuple
from typing import Any, NamedTuple

# words: text in the table; holds(published, here).
Criterion = namedtuple("Criterion", "words holds")

SAME = Criterion("the same", operator.eq)


def within(part: float) -> Criterion:
    return Criterion(
        f"within {100 * part:g} %", lambda published, here: abs(here / published - 1) <= part
    )


def factor(limit: float) -> Criterion:
    return Criterion(
        f"within a factor of {limit:g}",
        lambda published, here: published * here > 0 and 1 / limit <= here / published <= limit,
    )


def same_order(limit: float) -> Criterion:
    """
    Returns a criterion for a ratio of two times: the same time is longer, by about the same factor.
    """
    about = factor(limit)
    return Criterion(
        f"same order, {about.words}",
        lambda published, here: (published < 1) == (here < 1) and about.holds(published, here),
    )


def at_most(limit: int, unit: str) -> Criterion:
    return Criterion(f"at most {limit:g} {unit}".rstrip(), lambda _, here: here <= limit)


def at_least(limit: float, unit: str) -> Criterion:
    return Criterion(f"at least {limit:g} {unit}".rstrip(), lambda _, here: here >= limit)


def found(words: str, holds: bool | None) -> Criterion:
    """Returns a criterion that the caller itself has checked.  With None there is no verdict."""
    return Criterion(words, lambda *_: holds)


def good_as_printed(
    grid: list[int], times: list[float], low: float, high: float | None = None
) -> bool | None:
    """
    Returns whether a value of the grid in [low, high] is at most 2 % slower than the best here.
    Returns None if all of the grid are, which proves nothing, or if none of the grid is in [low,
    high].
    """
    good = [time <= 1.02 * min(times) for time in times]
    printed = [good[at] for at, x in enumerate(grid) if low <= x <= (high or low)]
    return None if all(good) or not printed else any(printed)


# Criteria of simulated figures, the same for all papers.  Times depend on the machine's
# description, ratios less so.  A gain in % agrees within a factor of 2.
TIME, RATIO, GAIN = factor(1.5), same_order(1.25), factor(2)
BY_NAME = {"the same": SAME, "time": TIME, "ratio": RATIO, "gain": GAIN}
FORMS = (  # texts of criteria
    (r"within a factor of ([\d.]+)", factor),
    (r"within ([\d.]+) %", lambda percent: within(percent / 100)),
    (r"at most ([\d.]+) %", lambda limit: at_most(limit, "%")),
)


def criterion(words: str) -> Criterion:
    """Returns a criterion by its words.  The caller checks conditions of other words."""
    for pattern, made in FORMS:
        match = re.fullmatch(pattern, words)
        if match:
            return made(float(match[1]))
    return BY_NAME.get(words) or found(words, None)


NOT_ALWAYS = "not at every end"


class Row(NamedTuple):
    """
    A published figure and huddle's.  published, here: numbers in the unit, or texts, or None if
    there is no figure.  agrees: whether they agree by the criterion `when`, or None if they are not
    compared.  low, high: the range of `here` over the numbers that nobody has measured
    (unmeasured.py), or None if it is not known.  texts: all texts that `here` has over this range.
    partly: the verdict, if an end of the range has another one, so that the row does not agree;
    otherwise None.  cite: the place of the published figure in the paper.
    """

    what: str
    unit: str
    published: Any
    here: Any
    by: str
    agrees: bool | None = None
    when: str = ""
    low: Any = None
    high: Any = None
    texts: Any = ()
    partly: Any = None
    cite: str = ""

    @classmethod
    def judged(
        cls, what: str, unit: str, published: Any, here: Any, by: str, criterion: Criterion | None
    ) -> Row:
        row = cls(what, unit, published, here, by)
        return row.judged_by(criterion) if criterion and published is not None else row

    @classmethod
    def own(cls, what: str, unit: str, here: float, by: str, criterion: Criterion) -> Row:
        """Returns a check of huddle's own, without a published figure."""
        return cls(what, unit, None, here, by).judged_by(criterion)

    def judged_by(self, criterion: Criterion) -> Row:
        """Returns the row with a verdict, if there is a result and the criterion decides."""
        holds = None if self.here is None else criterion.holds(self.published, self.here)
        return self if holds is None else self._replace(agrees=bool(holds), when=criterion.words)

    def alone(self) -> Row:
        """Returns the row without its published figure, which is for other ranks or sizes."""
        return self._replace(published=None, agrees=None, when="", partly=None)

    def deviation(self) -> float | None:
        """
        Returns the relative deviation from the published number, or None if either is not a number.
        """
        if (
            all(isinstance(value, (int, float)) for value in (self.published, self.here))
            and self.published
        ):
            return self.here / self.published - 1
        return None

    def says(self) -> str:
        part = self.deviation()
        if part is None:
            return ""
        return (
            f"{self.here - self.published:+.1f} points"
            if self.unit == "%"
            else f"{100 * part:+.1f} %"
        )

    def verdict(self) -> str:
        if self.agrees is None:
            return ""
        answers = {None: "yes" if self.agrees else "no", True: NOT_ALWAYS, False: "only at an end"}
        return f"{answers[self.partly]}: {self.when}"

    def range(self) -> str:
        if self.low is not None:
            return f"{number_text(self.low, '')} to {number_text(self.high, '')}"
        return " or ".join(self.texts) if len(self.texts) != 1 else "the same"

    def words(self, ranges: bool = False) -> list[str]:
        """Returns a line of the table whose head is `headers`."""
        in_words = isinstance(self.published, str) and not isinstance(self.here, str)  # "above 1"
        return [
            self.what,
            number_text(self.published, "" if in_words else self.unit),
            number_text(self.here, self.unit),
            *([self.range()] if ranges else []),
            self.says(),
            self.verdict(),
            self.by,
        ]

    def ratios(self) -> tuple[float, float, float] | None:
        """
        Returns here / published and the ends of its range, or None unless both are numbers of the
        same sign.
        """
        if not all(isinstance(value, (int, float)) for value in (self.published, self.here)):
            return None
        if self.published * self.here <= 0:
            return None
        ends = [self.here if end is None else end for end in (self.low, self.high)]
        low, high = sorted(end / self.published for end in ends)
        return self.here / self.published, low, high


def headers(published: str, ranges: bool) -> list[str]:
    return ["what", published, "here", *(["range"] if ranges else []), "deviation", "agrees", "by"]


def table_of(rows: list[Row], published: str) -> tuple[list[str], list[list[str]]]:
    """Returns a table's head and lines, with a column of ranges if a row has one."""
    ranges = any(row.range() for row in rows)
    return headers(published, ranges), [row.words(ranges) for row in rows]


def counts(rows: list[Row]) -> list[str]:
    """Returns lines that say how many rows agree."""
    judged = [row for row in rows if row.agrees is not None]
    lines = []
    for some, words in (
        ([row for row in judged if row.published is not None], "rows agree"),
        ([row for row in judged if row.published is None], "checks of our own hold"),
    ):
        partly = sum(bool(row.partly) for row in some)
        if some:
            agree = f"{sum(bool(row.agrees) for row in some)} of {len(some)} {words}"
            lines.append(agree + (f", {partly} more {NOT_ALWAYS} of the range" if partly else ""))
    return lines


def summary(rows: list[Row]) -> list[str]:
    """Returns the counts, and the rows that do not agree, with their deviations."""
    failed = [
        f"{row.what} ({row.says() or row.words()[2]}{f', {NOT_ALWAYS}' if row.partly else ''})"
        for row in rows
        if row.agrees is not None and not row.agrees
    ]
    return counts(rows) + ([f"rows that do not agree: {'; '.join(failed)}"] if failed else [])


def number_text(value: float | str | None, unit: str) -> str:
    if value is None:
        return "-"
    text = (
        value
        if isinstance(value, str)
        else f"{value:.0f}"
        if value == int(value) or abs(value) >= 1000
        else f"{value:.4g}"
    )
    return f"{text} {unit}".rstrip()


Result = namedtuple("Result", "rows figures")
