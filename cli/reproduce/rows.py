# SPDX-License-Identifier: BSD-3-Clause
"""
The result of a paper's module: rows of a table, and figures as data.

A row with a published figure has a criterion by which the two agree.  A check of our own has a
criterion but no published figure, and is counted separately.
"""

import operator
from collections import namedtuple

# words: text in the table; holds(published, here).
Criterion = namedtuple("Criterion", "words holds")

SAME = Criterion("the same", operator.eq)


def within(part):
    return Criterion(
        f"within {100 * part:g} %", lambda published, here: abs(here / published - 1) <= part
    )


def factor(limit):
    return Criterion(
        f"within a factor of {limit:g}",
        lambda published, here: published * here > 0 and 1 / limit <= here / published <= limit,
    )


def same_order(limit):
    """For a ratio of two times: the same one is longer, by about the same factor."""
    about = factor(limit)
    return Criterion(
        f"same order, {about.words}",
        lambda published, here: (published < 1) == (here < 1) and about.holds(published, here),
    )


def at_most(limit, unit):
    return Criterion(f"at most {limit:g} {unit}".rstrip(), lambda _, here: here <= limit)


def at_least(limit, unit):
    return Criterion(f"at least {limit:g} {unit}".rstrip(), lambda _, here: here >= limit)


def found(words, holds):
    """A criterion that the module itself has checked."""
    return Criterion(words, lambda *_: holds)


def good_as_printed(grid, times, low, high=None):
    """
    For a best parameter: one of the grid in [low, high] is here at most 2 % slower than the best.
    None: all of the grid are, which proves nothing; or none of the grid is in [low, high].
    """
    good = [time <= 1.02 * min(times) for time in times]
    printed = [good[at] for at, x in enumerate(grid) if low <= x <= (high or low)]
    return (
        None
        if all(good) or not printed
        else found("the published one is within 2 % of the best", any(printed))
    )


# Criteria of simulated figures, the same for all papers.  Times depend on the machine's
# description, ratios less so.  A gain in % agrees within a factor of 2.
TIME, RATIO, GAIN = factor(1.5), same_order(1.25), factor(2)


NOT_ALWAYS = "not at every end"
FIELDS = "what unit published here by agrees when low high texts partly"


class Row(namedtuple("Row", FIELDS, defaults=(None, "", None, None, (), None))):
    """
    published and here: numbers of that unit, or texts; None: not published, or not available.
    agrees, when: whether they agree, and the criterion; None: not compared.  low, high: the range
    of `here` over what nobody has measured (unmeasured.py); None: not known.  texts: the same of a
    text, all that `here` is there.  partly: what the verdict was, where it differs at an end of
    the range, so that the row does not agree; None: it does not differ.
    """

    @classmethod
    def judged(cls, what, unit, published, here, by, criterion):
        if published is None or here is None or criterion is None:
            return cls(what, unit, published, here, by)
        return cls(
            what, unit, published, here, by, bool(criterion.holds(published, here)), criterion.words
        )

    @classmethod
    def own(cls, what, unit, here, by, criterion):
        """A check of our own, which no published figure is compared with."""
        return cls(what, unit, None, here, by, bool(criterion.holds(None, here)), criterion.words)

    @classmethod
    def checked(cls, what, ratio, by, part):
        """
        The same, of two times that should be the same: their ratio.  part: the allowed difference.
        """
        alike = found(f"within {100 * part:g} % of 1", within(part).holds(1, ratio))
        return cls.own(what, "times", ratio, by, alike)

    def alone(self):
        """The row without its published figure, which is for other ranks or sizes."""
        return self._replace(published=None, agrees=None, when="", partly=None)

    def deviation(self):
        """The relative deviation of numbers from the published one; None: not numbers."""
        if (
            all(isinstance(value, (int, float)) for value in (self.published, self.here))
            and self.published
        ):
            return self.here / self.published - 1
        return None

    def says(self):
        part = self.deviation()
        if part is None:
            return ""
        return (
            f"{self.here - self.published:+.1f} points"
            if self.unit == "%"
            else f"{100 * part:+.1f} %"
        )

    def verdict(self):
        if self.agrees is None:
            return ""
        answers = {None: "yes" if self.agrees else "no", True: NOT_ALWAYS, False: "only at an end"}
        return f"{answers[self.partly]}: {self.when}"

    def range(self):
        if self.low is not None:
            return f"{number_text(self.low, '')} to {number_text(self.high, '')}"
        return " or ".join(self.texts) if len(self.texts) != 1 else "the same"

    def words(self, ranges=False):
        """A line of the table that `headers` is the head of."""
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

    def ratios(self):
        """
        here / published, and the ends of its range; None: not two numbers above 0, or two below.
        """
        if not all(isinstance(value, (int, float)) for value in (self.published, self.here)):
            return None
        if self.published * self.here <= 0:
            return None
        ends = [self.here if end is None else end for end in (self.low, self.high)]
        low, high = sorted(end / self.published for end in ends)
        return self.here / self.published, low, high


def headers(published, ranges):
    return ["what", published, "here", *(["range"] if ranges else []), "deviation", "agrees", "by"]


def table_of(rows, published):
    """The head of a table, and its lines.  There is a column of ranges if a row has one."""
    ranges = any(row.range() for row in rows)
    return headers(published, ranges), [row.words(ranges) for row in rows]


def counts(rows):
    """Lines: how many rows agree."""
    judged = [row for row in rows if row.agrees is not None]
    lines = []
    for some, words in (
        ([row for row in judged if row.published is not None], "rows agree"),
        ([row for row in judged if row.published is None], "checks of our own hold"),
    ):
        partly = sum(bool(row.partly) for row in some)
        if some:
            agree = f"{sum(row.agrees for row in some)} of {len(some)} {words}"
            lines.append(agree + (f", {partly} more {NOT_ALWAYS} of the range" if partly else ""))
    return lines


def summary(rows):
    """The same; and which do not, and by how much."""
    failed = [
        f"{row.what} ({row.says() or row.words()[2]}{f', {NOT_ALWAYS}' if row.partly else ''})"
        for row in rows
        if row.agrees is not None and not row.agrees
    ]
    return counts(rows) + ([f"rows that do not agree: {'; '.join(failed)}"] if failed else [])


def number_text(value, unit):
    if value is None:
        return "-"
    text = (
        value
        if isinstance(value, str)
        else f"{value:.0f}" if value == int(value) or abs(value) >= 1000 else f"{value:.4g}"
    )
    return f"{text} {unit}".rstrip()


Result = namedtuple("Result", "rows figures")
