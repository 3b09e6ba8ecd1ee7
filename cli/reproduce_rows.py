# SPDX-License-Identifier: BSD-3-Clause
"""What a paper's module gives back: rows of a table, and figures as data.  Each row that stands beside something printed says when the two agree."""
import operator
from collections import namedtuple

# words: said in the table; holds(published, here).
Criterion = namedtuple("Criterion", "words holds")

SAME = Criterion("the same", operator.eq)


def within(part):
    return Criterion(f"within {100 * part:g} %", lambda published, here: abs(here / published - 1) <= part)


def factor(most):
    return Criterion(f"within a factor of {most:g}", lambda published, here: published * here > 0 and 1 / most <= here / published <= most)


def same_order(most):
    """Of a ratio of two times: the same one is longer, and by about as much."""
    about = factor(most)
    return Criterion(f"same order, {about.words}", lambda published, here: (published < 1) == (here < 1) and about.holds(published, here))


def at_most(limit, unit):
    return Criterion(f"at most {limit:g} {unit}".rstrip(), lambda _, here: here <= limit)


def a_step(grid, low, high=None):
    """Of an optimum here, one of the grid: it is one of its steps at most beside [low, high]."""
    good = [i for i, x in enumerate(grid) if low <= x <= (high or low)] or [min(range(len(grid)), key=lambda i: abs(grid[i] - low))]
    return Criterion("a step of those tried at most", lambda _, here: good[0] - 1 <= grid.index(here) <= good[-1] + 1)


def found(words, holds):
    """Of texts, which the module has judged."""
    return Criterion(words, lambda *_: holds)


# Of figures that are simulated: one size for all papers.  Times hang on a described machine, ratios less so; of a gain in % the printed half, or twice it, is the same thing.
TIME, RATIO, GAIN = factor(1.5), same_order(1.25), factor(2)


class Row(namedtuple("Row", "what unit published here by agrees when", defaults=(None, ""))):
    """published and here: numbers of that unit, or texts; None: nothing is printed, or could be had.  agrees, when: whether, and by which criterion; None: nothing is compared."""

    @classmethod
    def judged(cls, what, unit, published, here, by, criterion):
        if published is None or here is None:
            return cls(what, unit, published, here, by)
        return cls(what, unit, published, here, by, bool(criterion.holds(published, here)), criterion.words)

    def alone(self):
        """What came out beside nothing: what is printed is of other ranks or sizes."""
        return self._replace(published=None, agrees=None, when="")

    def deviation(self):
        """Of numbers, in parts of what is printed; None: there is none."""
        if all(isinstance(value, (int, float)) for value in (self.published, self.here)) and self.published:
            return self.here / self.published - 1
        return None

    def says(self):
        part = self.deviation()
        if part is None:
            return ""
        return f"{self.here - self.published:+.1f} points" if self.unit == "%" else f"{100 * part:+.1f} %"

    def verdict(self):
        return "" if self.agrees is None else f"{'yes' if self.agrees else 'no'}: {self.when}"

    def words(self):
        return [self.what, number_text(self.published, self.unit), number_text(self.here, self.unit), self.says(), self.verdict(), self.by]


def summary(rows):
    """Lines: how many agree, and what does not come out, by how much."""
    compared = [row for row in rows if row.agrees is not None]
    failed = [f"{row.what} ({row.says() or row.words()[2]})" for row in compared if not row.agrees]
    return ([f"{len(compared) - len(failed)} of {len(compared)} rows agree"] if compared else []) + ([f"does not come out: {'; '.join(failed)}"] if failed else [])


def number_text(value, unit):
    if value is None:
        return "-"
    text = value if isinstance(value, str) else f"{value:.0f}" if value == int(value) or abs(value) >= 1000 else f"{value:.4g}"
    return f"{text} {unit}".rstrip()


# lines: (label, x, y, marks): marks are points, else a line; x are numbers, or words.  log: the axes that are logarithmic, "", "x", "y" or "xy".
Figure = namedtuple("Figure", "name title x y log lines")

Result = namedtuple("Result", "rows figures")
