# SPDX-License-Identifier: BSD-3-Clause
"""
From decided contests to a file: rules, and whether they hold together.

Rules of a team share its memory, so a file is measured as a whole, at every size of the team, in
new launches.  Of each collective two forms of its rules are compared: those that serve the fewest
sizes, and those that serve the most, since an algorithm that serves many sizes shares one window.
A rule must be better by the limits of a contest once more.  Sizes that lose are taken out, and the
rest is measured again.  So is what is not decided, which is left out at the end.
"""

import os
import tempfile
from collections import namedtuple

from ..common.sizes import written
from . import stats, tuning_file
from .contest import one_launch
from .state import Cell, thinned
from ..common.trials import Ended, Trials
from .tuning_file import Rule

NARROW, WIDE, FILE = "narrow", "wide", "file"
LAUNCHES, AGAIN = 2, 3  # of a file; files that are measured
FORMS_PART, FIRST_PART = 0.25, 0.6  # of the time: for the two forms; of the rest: the first file
CELL_S = 1.5  # at most, in one launch
RULED = 4  # times as long for a size that a rule serves: that is what is to be decided
START_S = 1.2  # of a launch
LEAST_S = 2 * LAUNCHES * START_S  # less does not decide a file

# What was faster alone and is in no rule.  undecided: cells; lost: the number of rules that lose.
Left = namedtuple("Left", "undecided lost")


def figures_at(group, size):
    """label -> Figure: of the contest, else what the first look says, never better."""
    state, cell = group.campaign.state, group.cell(size)
    found = {
        label: stats.Figure(None, None, None, None, ratio, ratio, ratio, 1, False, 0.5)
        for label, ratio in group.ratios(size).items()
    }
    labels = {label for one in state.launches(cell) for label in one["one"]} - {stats.OWN}
    found.update({label: state.figure(cell, label) for label in labels})
    return {label: figure for label, figure in found.items() if figure}


def rules_of(group, ranks, wide):
    """A collective's rules for a team."""
    campaign = group.campaign
    known = [size for size in group.sizes if campaign.state.has(group.cell(size))]
    figures = [figures_at(group, size) for size in known]
    candidates = campaign.candidates[group.team, group.collective]
    found = []
    for piece in stats.choose(figures, wide):
        inside = range(piece.first, piece.last + 1)
        if piece.label is None or not any(figures[i][piece.label].better for i in inside):
            continue
        low = known[piece.first - 1] + 1 if piece.first else group.bounds[0]
        high = known[piece.last] if piece.last + 1 < len(known) else group.bounds[1]
        found.append(
            Rule(
                group.collective,
                group.team,
                ranks,
                candidates[piece.label],
                low if campaign.moves(group.collective) else None,
                high,
                {known[i]: figures[i][piece.label] for i in inside},
                None,
            )
        )
    return found


def split(rule, sizes):
    """The rule without these sizes, as none, one or more rules."""
    found, kept, known = [], [], sorted(rule.figures)
    for size in [*known, None]:
        if size is not None and size not in sizes:
            kept.append(size)
        elif kept:
            first = known.index(kept[0])
            low = rule.min_bytes if first == 0 else known[first - 1] + 1
            high = rule.max_bytes if size is None else kept[-1]
            figures = {s: rule.figures[s] for s in kept}
            found.append(rule._replace(min_bytes=low, max_bytes=high, figures=figures))
            kept = []
    return found


def end_of_launch(now, end, launches, start_s):
    """Of the first of so many launches until `end`: the others need time to start, too."""
    each = (end - now - (launches - 1) * max(start_s, START_S)) / launches
    return now + each if each > 0 else end


class Together:
    """A team's rules, measured."""

    def __init__(self, campaign, team, groups):
        self.campaign, self.team, self.groups = campaign, team, groups
        self.cells = [
            group.cell(size)
            for group in groups
            for size in group.sizes
            if campaign.state.has(group.cell(size))
        ]
        self.line, self.proposed, self.harmed = {}, [], set()

    def measure(self, files, cells, launches, share):
        """
        {cell: [launch]}, its labels those of files.  files: label -> rules; share: of the time left
        to this part.
        """
        budget, found = self.campaign.budget, {cell: [] for cell in cells}
        end = budget.now() + share * budget.left("together")
        ruled = {cell for rules in files.values() for cell in self.cells_of(rules)}
        weights = [self.campaign.weight(cell) * (RULED if cell in ruled else 1) for cell in cells]
        with tempfile.TemporaryDirectory(prefix="huddle-tune-") as folder:
            texts = [self.campaign.before]
            for label, rules in files.items():
                path = os.path.join(folder, f"{label}.toml")
                tuning_file.write(path, self.campaign.text(rules))
                tuning_file.check_reads(self.campaign.layout, path)
                texts.append(f"HUDDLE_TUNING={path}")
            names = dict(enumerate([stats.OWN, *files]))
            for rest in range(launches, 0, -1):
                if end - budget.now() > START_S:
                    self.launch(texts, names, found, weights, (end, rest))
        return found

    def launch(self, texts, names, found, weights, until):
        """until: the end of so many launches."""
        budget, cells = self.campaign.budget, list(found)
        begin = budget.now()
        try:
            with Trials(
                self.campaign.layout, self.team, texts, lambda: budget.left("together")
            ) as trials:
                now = budget.now()
                stop = end_of_launch(now, *until, now - begin)
                for i, cell in enumerate(cells):
                    left = stop - budget.now()
                    if left <= 0:
                        break
                    seconds = min(CELL_S, left * weights[i] / sum(weights[i:]))
                    own_ns = self.campaign.state.own_ns(cell)
                    one, loop, line = one_launch(trials, cell, list(names), seconds, own_ns)
                    both = [{names[n]: thinned(ns) for n, ns in w.items()} for w in (one, loop)]
                    found[cell].append({"one": both[0], "loop": both[1]})
                    self.line.setdefault(cell, []).extend(line)
        except Ended as trouble:
            self.campaign.failed("together", self.team, trouble)

    def choose_forms(self, share):
        """The better form of each collective's rules, as measured."""
        ranks = self.campaign.ranks_texts[self.team]
        forms = {
            form: {group: rules_of(group, ranks, form == WIDE) for group in self.groups}
            for form in (NARROW, WIDE)
        }
        differ = [g for g in self.groups if forms[NARROW][g] != forms[WIDE][g]]
        if not differ or share * self.campaign.budget.left("together") < 2 * START_S:
            return [rule for rules in forms[NARROW].values() for rule in rules]
        files = {form: [r for rules in forms[form].values() for r in rules] for form in forms}
        cells = [cell for cell in self.cells if cell.collective in {g.collective for g in differ}]
        found = self.measure(files, cells, 1, share)
        chosen = []
        for group in self.groups:
            means = {
                form: stats.mean_ratio(figures)
                for form in forms
                if (
                    figures := [
                        figure
                        for cell in cells
                        if cell.collective == group.collective
                        for figure in [stats.figure_of(found[cell], form)]
                        if figure
                    ]
                )
            }
            form = min(means, key=means.get) if means and group in differ else NARROW
            chosen += forms[form][group]
        return chosen

    def cells_of(self, rules):
        return {Cell(rule.collective, self.team, size) for rule in rules for size in rule.figures}

    def measure_file(self, rules, found, share):
        """Adds launches of the rules to `found`; returns the cells that they serve."""
        served = self.cells_of(rules)
        cells = sorted(self.cells, key=lambda cell: (cell not in served, len(found[cell])))
        for cell, launches in self.measure({FILE: rules}, cells, LAUNCHES, share).items():
            # (files only become shorter: a size that is served had the same rule before)
            found[cell] = (found[cell] if cell in served else []) + launches
        return served

    def figures_of(self, rule, found):
        """size -> Figure as measured with the file; None: it was not."""
        cells = {size: Cell(rule.collective, self.team, size) for size in rule.figures}
        return {size: stats.figure_of(found[cell], FILE) for size, cell in cells.items()}

    def harmless(self, rules, found):
        """The rules without the sizes that surely lose by them.  Others may need more launches."""
        kept = []
        for rule in rules:
            figures = self.figures_of(rule, found)
            bad = {size for size, figure in figures.items() if stats.harmed(figure)}
            self.harmed |= {Cell(rule.collective, self.team, size) for size in bad}
            kept += split(rule, bad)
        return kept

    def judged(self, rules, found):
        """The rules without the sizes at which they do not keep what docs/tuning.md promises."""
        kept = []
        for rule in rules:
            figures = self.figures_of(rule, found)
            bad = {size for size, figure in figures.items() if not stats.holds(figure)}
            for part in split(rule._replace(figures=figures), bad):
                level = {size for size, figure in part.figures.items() if not figure.better}
                kept += [part] if stats.pays(part.figures.values()) else split(part, level)
        return [rule._replace(line_ns=self.line_ns(rule)) for rule in kept]

    def line_ns(self, rule):
        seen = [
            ns
            for s in rule.figures
            for ns in self.line.get(Cell(rule.collective, self.team, s), ())
        ]
        return sum(seen) / len(seen) if seen else None

    def run(self, share):
        """(rules, {cell: Figure of the file}).  share: of the time left to this part."""
        budget = self.campaign.budget
        # (where there is not enough for all teams, the first ones are decided, rather than none)
        end = budget.now() + max(share * budget.left("together"), LEAST_S)

        def part(of):
            left = budget.left("together")
            return max(0.0, min(1.0, of * (end - budget.now()) / left)) if left > 0 else 0.0

        rules = self.proposed = self.choose_forms(part(FORMS_PART))
        found, served = {cell: [] for cell in self.cells}, set()
        for turn in range(AGAIN):
            if not rules or part(1) <= 0:
                break
            all_of_it = turn or FIRST_PART * (end - budget.now()) < LEAST_S
            served = self.measure_file(rules, found, part(1 if all_of_it else FIRST_PART))
            rules = self.harmless(rules, found)
            if self.cells_of(self.judged(rules, found)) == served:
                break
        rules = self.judged(rules, found)
        last = self.cells_of(rules)
        figures = {
            cell: figure
            for cell, launches in found.items()
            for figure in [stats.figure_of(launches, FILE)]
            if figure and (cell in served) == (cell in last)
        }
        self.note_losses(rules, figures)
        return (rules, figures) if rules else ([], {})

    def left(self, rules):
        """What was proposed and is not in these rules."""
        out = self.harmed | self.cells_of(rules)
        better = [
            [
                Cell(rule.collective, self.team, size)
                for size, figure in sorted(rule.figures.items())
                if figure.better
            ]
            for rule in self.proposed
        ]
        undecided = [cell for cells in better for cell in cells if cell not in out]
        return Left(undecided, sum(self.harmed.issuperset(cells) for cells in better))

    def note_losses(self, rules, figures):
        """Rules take memory from what no rule serves: notes what lost by it."""
        served = {(rule.collective, size) for rule in rules for size in rule.figures}
        for cell, figure in figures.items():
            unserved = rules and (cell.collective, cell.size) not in served
            if unserved and stats.lost(figure):
                self.campaign.notes.append(
                    f"{cell.collective} of {written(cell.size)}, {self.team.ranks} ranks: slower by"
                    f" {100 * (figure.ratio - 1):.0f} % with the other rules"
                )


def together(campaign, progress):
    """(all rules, {cell: Figure} as measured with them, what was left out)."""
    rules, figures, left = [], {}, Left([], 0)
    for i, team in enumerate(campaign.teams):
        progress.stage(f"as a whole: {team.ranks} ranks")
        groups = [group for group in campaign.groups() if group.team == team]
        work = Together(campaign, team, groups)
        more, seen = work.run(1 / (len(campaign.teams) - i))
        rules += more
        figures.update(seen)
        left = Left(*(a + b for a, b in zip(left, work.left(more))))
    return rules, figures, left
