# SPDX-License-Identifier: BSD-3-Clause
"""What a paper's module gives back: rows of a table, and figures as data."""
from collections import namedtuple


class Row(namedtuple("Row", "what unit published here by agrees", defaults=(None,))):
    """
    published and here: numbers of that unit, or texts; None: nothing is printed, or could be had.  agrees: of texts, whether they say the same.
    """

    def deviation(self):
        """Of numbers, in parts of what is printed; None: there is none."""
        if all(isinstance(value, (int, float)) for value in (self.published, self.here)) and self.published:
            return self.here / self.published - 1
        return None

    def says(self):
        part = self.deviation()
        if part is None:
            return {True: "agrees", False: "differs", None: ""}[self.agrees]
        return f"{self.here - self.published:+.1f} points" if self.unit == "%" else f"{100 * part:+.1f} %"

    def words(self):
        return [self.what, number_text(self.published, self.unit), number_text(self.here, self.unit), self.says(), self.by]


def number_text(value, unit):
    if value is None:
        return "-"
    text = value if isinstance(value, str) else f"{value:.0f}" if value == int(value) or abs(value) >= 1000 else f"{value:.4g}"
    return f"{text} {unit}".rstrip()


# lines: (label, x, y, marks): marks are points, else a line; x are numbers, or words.  log: the axes that are logarithmic, "", "x", "y" or "xy".
Figure = namedtuple("Figure", "name title x y log lines")

Result = namedtuple("Result", "rows figures")
