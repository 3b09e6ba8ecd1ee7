# SPDX-License-Identifier: BSD-3-Clause
"""
What a paper's module gives back: rows of a table, and figures as data.

Each row that stands beside something printed says when the two agree.  A check of our own stands
beside nothing printed, says when it holds, and is counted apart.
"""

import operator
from collections import namedtuple

# words: said in the table; holds(published, here).
Criterion = namedtuple("Criterion", "words holds")

SAME = Criterion("the same", operator.eq)


def within(part):
    return Criterion(
        f"within {100 * part:g} %", lambda published, here: abs(here / published - 1) <= part
    )


def factor(most):
    return Criterion(
        f"within a factor of {most:g}",
        lambda published, here: published * here > 0 and 1 / most <= here / published <= most,
    )


def same_order(most):
    """Of a ratio of two times: the same one is longer, and by about as much."""
    about = factor(most)
    return Criterion(
        f"same order, {about.words}",
        lambda published, here: (published < 1) == (here < 1) and about.holds(published, here),
    )


def at_most(limit, unit):
    return Criterion(f"at most {limit:g} {unit}".rstrip(), lambda _, here: here <= limit)


def found(words, holds):
    """Of what the module has judged."""
    return Criterion(words, lambda *_: holds)


def good_as_printed(grid, times, low, high=None):
    """
    Of a best parameter: one of the grid in [low, high] takes here no more than 2 % above the best.
    None: so do all of the grid, which says nothing; or none of it is there.
    """
    good = [time <= 1.02 * min(times) for time in times]
    printed = [good[at] for at, x in enumerate(grid) if low <= x <= (high or low)]
    return (
        None
        if all(good) or not printed
        else found("what is printed is as good here, within 2 %", any(printed))
    )


# Of figures that are simulated: one size for all papers.  Times hang on a described machine, ratios
# less so; of a gain in % the printed half, or twice it, is the same thing.
TIME, RATIO, GAIN = factor(1.5), same_order(1.25), factor(2)


class Row(namedtuple("Row", "what unit published here by agrees when", defaults=(None, ""))):
    """
    published and here: numbers of that unit, or texts; None: nothing is printed, or could be had.
    agrees, when: whether, and by which criterion; None: nothing is compared.
    """

    @classmethod
    def judged(cls, what, unit, published, here, by, criterion):
        if published is None or here is None or criterion is None:
            return cls(what, unit, published, here, by)
        return cls(
            what, unit, published, here, by, bool(criterion.holds(published, here)), criterion.words
        )

    @classmethod
    def checked(cls, what, ratio, by, part):
        """
        A check of our own, of two times that should be the same: their ratio.  part: they may
        differ by so much.
        """
        return cls(
            what,
            "times",
            None,
            ratio,
            by,
            bool(within(part).holds(1, ratio)),
            f"within {100 * part:g} % of 1",
        )

    def alone(self):
        """What came out beside nothing: what is printed is of other ranks or sizes."""
        return self._replace(published=None, agrees=None, when="")

    def deviation(self):
        """Of numbers, in parts of what is printed; None: there is none."""
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
        return "" if self.agrees is None else f"{'yes' if self.agrees else 'no'}: {self.when}"

    def words(self):
        return [
            self.what,
            number_text(self.published, self.unit),
            number_text(self.here, self.unit),
            self.says(),
            self.verdict(),
            self.by,
        ]


def summary(rows):
    """Lines: how many agree, and what does not come out, by how much."""
    judged = [row for row in rows if row.agrees is not None]
    failed = [f"{row.what} ({row.says() or row.words()[2]})" for row in judged if not row.agrees]
    lines = []
    for some, words in (
        ([row for row in judged if row.published is not None], "rows agree"),
        ([row for row in judged if row.published is None], "checks of our own hold"),
    ):
        lines += [f"{sum(row.agrees for row in some)} of {len(some)} {words}"] if some else []
    return lines + ([f"does not come out: {'; '.join(failed)}"] if failed else [])


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
