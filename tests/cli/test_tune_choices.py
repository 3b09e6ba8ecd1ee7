# SPDX-License-Identifier: BSD-3-Clause
"""huddle tune: choices from made-up times; what it tries, and when.  test_tune_choices.py BUILD."""

import io
import math
import os
import random
import re
import sys
import tempfile
import types
import unittest
from unittest import mock

from said import some

BUILD = os.path.abspath(sys.argv.pop(1))
sys.path.insert(0, os.path.join(BUILD, "libexec", "huddle"))

from huddle_cli.common import candidates  # noqa: E402
from huddle_cli.tune import (
    against,
    budget,
    campaign,
    command,
    contest,
    needed,
    plot,
    results,
)  # noqa: E402
from huddle_cli.tune import screen, show, state, stats, together, tuning_file  # noqa: E402
from huddle_cli.common.candidates import Candidate, Value  # noqa: E402
from huddle_cli.common.layout import Layout, Trouble  # noqa: E402
from huddle_cli.common.sizes import number  # noqa: E402
from huddle_cli.common.trials import Ended  # noqa: E402
from huddle_cli.tune.grid import Team  # noqa: E402
from huddle_cli.tune.state import Cell, State  # noqa: E402
from huddle_cli.tune.stats import OWN, Figure, Piece  # noqa: E402

LAYOUT = Layout(
    BUILD,
    programs="bin",
    libs="lib",
    plugins="lib/huddle",
    tools="libexec/huddle",
    share="share/huddle",
    sysconf="/etc",
)
NOISE = [0, 3, -2, 5, -4, 1, -1, 2, -3, 4, 0, -5]  # per cent


def times(median, count=12):
    return [median * (1 + n / 100) for n in NOISE[:count]]


def launch(ns, own_ns, loop_ns=None, own_loop_ns=None):
    loop = {"a": times(loop_ns), OWN: times(own_loop_ns)} if loop_ns else {}
    return {"one": {"a": times(ns), OWN: times(own_ns)}, "loop": loop}


def figure(ns, own_ns, better):
    ratio = ns / own_ns
    return Figure(ns, own_ns, None, None, ratio, ratio, ratio, 3, better, 0.0)


class Statistics(unittest.TestCase):
    def better(self, *launches):
        return stats.figure_of(launches, "a").better

    def test_better_needs_a_margin_and_launches_that_agree(self):
        self.assertTrue(self.better(launch(900, 1000), launch(1800, 2000)))
        self.assertFalse(self.better(launch(900, 1000)), "one launch is no evidence")
        self.assertFalse(
            self.better(*[launch(970, 1000)] * 9), "3 % are too little, be they ever so sure"
        )
        self.assertFalse(
            self.better(launch(500, 1000), launch(1100, 1000), launch(600, 1000)),
            "of three launches none may say the opposite",
        )
        self.assertTrue(self.better(*[launch(700, 1000)] * 5, launch(1100, 1000)))
        self.assertFalse(
            self.better(
                {"one": {"a": [1, 9] * 9, OWN: [6, 7] * 9}, "loop": {}},
                {"one": {"a": [5, 5.2], OWN: [6, 6.1]}, "loop": {}},
            ),
            "what scatters so may be better by chance",
        )

    def test_single_shots_and_calls_back_to_back_count_alike(self):
        some = [launch(900, 1000, 400, 500)] * 2
        self.assertTrue(self.better(*some))
        self.assertAlmostEqual((0.9 * 0.8) ** 0.5, stats.figure_of(some, "a").ratio)
        self.assertFalse(
            self.better(*[launch(700, 1000, 540, 500)] * 2), "back to back it is worse by 8 %"
        )

    def test_ratios_are_of_one_launch(self):
        some = [launch(100, 125), launch(1000, 1250)]
        self.assertAlmostEqual(0.8, stats.figure_of(some, "a").ratio)
        self.assertIsNone(stats.figure_of([{"one": {"a": [1]}, "loop": {}}], "a"))

    def test_decided(self):
        good, bad = figure(80, 100, True), figure(120, 100, False)
        self.assertTrue(stats.decided([good, bad]))
        self.assertFalse(stats.decided([bad]))
        self.assertTrue(stats.decided([]), "all were given up")
        self.assertFalse(stats.decided([good, None]), "one was not measured")
        self.assertFalse(stats.decided([figure(96, 100, False)]))
        self.assertTrue(stats.decided([figure(96, 100, False)._replace(launches=stats.ENOUGH)]))

    def test_chance(self):
        self.assertAlmostEqual(0.5, stats.chance(times(1000), times(1000)), places=2)
        self.assertGreater(stats.chance(times(1100), times(1000)), 0.99)
        self.assertEqual(0.5, stats.chance([7] * 5, [7] * 5))

    def test_neighbours_with_the_same_choice_are_one_piece(self):
        good, level, bad = figure(80, 100, True), figure(99, 100, False), figure(120, 100, False)
        self.assertEqual(
            [Piece(None, 0, 0), Piece("a", 1, 3), Piece(None, 4, 4)],
            stats.choose([{"a": bad}, {"a": good}, {"a": level}, {"a": good}, {"a": bad}]),
        )

    def test_a_switch_must_pay(self):
        a, b = figure(80, 100, True), figure(79, 100, True)
        self.assertEqual([Piece("a", 0, 2)], stats.choose([{"a": a}, {"a": a, "b": b}, {"a": a}]))
        better = figure(60, 100, True)
        self.assertEqual(
            ["a", "b", "a"],
            [piece.label for piece in stats.choose([{"a": a}, {"a": a, "b": better}, {"a": a}])],
        )

    def test_of_two_alike_the_one_with_fewer_parameters_is_chosen(self):
        a, b = figure(80, 100, True), figure(79.9, 100, True)
        self.assertEqual([Piece("a", 0, 0)], stats.choose([{"a": a, "a\nb=1": b}]))

    def test_where_nothing_is_better_huddle_s_own_choice_stays(self):
        self.assertEqual([Piece(None, 0, 1)], stats.choose([{"a": figure(96, 100, False)}, {}]))

    def test_what_was_not_measured_is_not_chosen(self):
        self.assertEqual(
            [Piece("a", 0, 0), Piece(None, 1, 1)], stats.choose([{"a": figure(50, 100, True)}, {}])
        )

    def test_a_wide_choice_serves_what_it_does_not_harm(self):
        level, good, bad = figure(101, 100, False), figure(80, 100, True), figure(103, 100, False)
        some = [{"a": bad}, {"a": level}, {"a": good}, {"a": level}]
        self.assertEqual(
            [Piece(None, 0, 1), Piece("a", 2, 2), Piece(None, 3, 3)],
            stats.choose(some[:3] + [{"a": bad}]),
        )
        self.assertEqual([Piece(None, 0, 0), Piece("a", 1, 3)], stats.choose(some, wide=True))

    def test_a_rule_pays_only_if_it_does_no_harm(self):
        good = figure(80, 100, True)
        self.assertTrue(stats.pays([good, figure(98, 100, False)]))
        self.assertFalse(stats.pays([good, figure(106, 100, False)]))
        self.assertFalse(stats.pays([figure(96, 100, False)]), "the documents promise .95")
        seems = figure(80, 100, False)
        self.assertFalse(stats.pays([seems]), "it may be chance")
        self.assertFalse(stats.pays([good, *[seems] * 4]), "only what is sure counts")
        late = figure(106, 100, True)._replace(ratio=0.8)
        self.assertFalse(stats.pays([good, late]), "single shots are slower")
        loop = good._replace(loop_ns=106, own_loop_ns=100)
        self.assertFalse(stats.pays([good, loop]), "calls back to back are slower")
        self.assertFalse(stats.pays([good._replace(launches=1)]), "one launch is no evidence")
        self.assertFalse(stats.pays([]))


class Chance(unittest.TestCase):
    """How often a candidate wins that is as fast, where launches differ by themselves."""

    CONTESTS, SHOTS, NOISE = 250, 15, 0.04

    def launch(self, scatter):
        """scatter: of a launch's ratio, which the shots of both ways share."""
        factor = math.exp(self.random.gauss(0, scatter))
        one, loop = (
            {
                label: [ratio * self.random.gauss(1, self.NOISE) for _ in range(self.SHOTS)]
                for label, ratio in (("a", factor), (OWN, 1))
            }
            for _ in range(2)
        )
        return {"one": one, "loop": loop}

    def wins(self, scatter, more):
        """In a contest (one launch more each time), or in the last part (two more)."""
        some = []
        while len(some) < stats.ENOUGH:
            some += [self.launch(scatter) for _ in range(more)]
            figure = stats.figure_of(some, "a")
            if figure.better or (more > 1 and stats.harmed(figure)):
                return figure.better
        return False

    def test_it_is_larger_than_that_of_shots_and_the_last_part_lowers_it(self):
        """The limits are around what docs/tuning.md has: 10 and 1 %, 24 and 5 %."""
        for scatter, contests, rules in ((0, 0, 0), (0.05, 0.10, 0.01), (0.1, 0.24, 0.05)):
            with self.subTest(scatter=scatter):
                self.random = random.Random(3)
                won = [self.wins(scatter, 1) for _ in range(self.CONTESTS)]
                kept = sum(self.wins(scatter, together.LAUNCHES) for one in won if one)
                self.assertAlmostEqual(contests, sum(won) / self.CONTESTS, delta=0.05)
                self.assertAlmostEqual(rules, kept / self.CONTESTS, delta=0.025)
                if scatter:
                    self.assertGreater(sum(won) / self.CONTESTS, 2 * stats.SIGNIFICANCE)


class Time(unittest.TestCase):
    def test_parts_end_one_after_the_other_within_what_was_announced(self):
        for against in (False, True):
            now = [100.0]
            clock = budget.Budget(60, against, now=lambda: now[0])
            ends = [clock.ends[name] for name in ("screen", "contest", "together", "peers")]
            self.assertEqual(sorted(ends), ends)
            self.assertLess(ends[-1], 160)
            self.assertEqual(against, ends[-1] - ends[-2] > 1)
            now[0] = 150.0
            self.assertEqual(0, clock.left("screen"))
            self.assertEqual("0:10", clock.left_text())
        self.assertEqual("1:15", budget.clock_text(75.2))

    def test_a_part_can_be_reopened(self):
        now = [0.0]
        clock = budget.Budget(100, now=lambda: now[0])
        now[0] = clock.ends["screen"] + 1
        left = clock.left("contest")
        clock.reopen("screen", "contest")
        self.assertEqual(left / 2, clock.left("screen"))

    def test_small_budgets_keep_time_for_measuring(self):
        clock = budget.Budget(2, now=lambda: 0)
        self.assertGreater(clock.left("together"), 1)


class Contests(unittest.TestCase):
    def contest(self, labels, *launches):
        kept = State.__new__(State)
        kept.cells = {}
        cell = Cell("bcast", Team(2, "core", False, ""), 8)
        kept.put(cell, "presets", 100, {"a": 0.9, "b": 0.8}, [])
        for one in launches:
            kept.add(cell, one, {}, [])
        return contest.Contest(kept, cell, list(labels))

    def test_what_is_behind_is_left_out(self):
        some = self.contest("ab", {OWN: times(100), "a": times(50), "b": times(70)})
        some.narrow()
        self.assertEqual(["a"], some.labels)
        self.assertTrue(some.open())
        self.assertTrue(some.promises())
        some = self.contest("a", {OWN: times(100), "a": times(101)})
        some.narrow()
        self.assertFalse(some.open(), "nothing is left to try")

    def test_what_promises_more_is_first_among_those_with_as_many_launches(self):
        new, other = self.contest("ab"), self.contest("a")
        measured = self.contest("a", {OWN: times(100), "a": times(50)})
        self.assertEqual(
            [new, other, measured], sorted([measured, other, new], key=contest.Contest.order)
        )

    def test_a_launch_holds_so_many_candidates(self):
        many = self.contest([str(n) for n in range(contest.CONTEXTS)])
        self.assertEqual(([], {}), contest.fitting([many]))
        self.assertEqual({"a": 1, "b": 2}, contest.fitting([self.contest("ab"), many])[1])

    def test_many_times_are_kept_as_few(self):
        self.assertEqual([1, 2], state.thinned([1, 2]))
        self.assertEqual(
            (state.TIMES, 0, 999),
            (lambda t: (len(t), t[0], t[-1]))(state.thinned(list(range(1000)))),
        )


class Machine:
    """
    A made-up machine, in the place of Trials: each algorithm's time at a size is known, measured
    ones have noise, and the clock goes on by what a comparison takes.
    """

    START_S, NOISE, BUSY = 1.5, 0.04, 0.15  # BUSY: of the shots are 1 to 3 times as long

    def __init__(self, seed, spoilt):
        self.clock, self.random, self.spoilt = [0.0], random.Random(seed), spoilt

    def __call__(self, _layout, team, texts, _left):
        self.clock[0] += self.START_S
        self.state = self.random.uniform(0.7, 1.4)  # of the machine, in this launch
        self.team, self.texts = team, texts
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    @staticmethod
    def factor(label, collective, size):
        """Of a candidate: nearly 1 for one algorithm, up to 3 for others, by chance."""
        known = random.Random(f"{label.split(chr(10))[0]} {collective} {size >> 12}").random()
        return 1 + 2 * known + 0.1 * label.count("\n")

    def algorithms(self, collective):
        return sorted({c for c in self.labels[collective] if "\n" not in c})

    def own(self, collective, size):
        """What the table chooses is the best."""
        best = min(self.factor(c, collective, size) for c in self.algorithms(collective))
        spoilt = (collective, self.team.ranks, size) in self.spoilt
        return best * (self.spoilt[collective, self.team.ranks, size] if spoilt else 1)

    def rule_of(self, path, collective, size):
        """The label of the first rule of a file that serves the call; None: none does."""
        for rule in tuning_file_rules(path):
            if rule["collective"] == collective and rule["low"] <= size <= rule["high"]:
                return rule["label"]
        return None

    def ns(self, text, collective, size):
        first, _, label = text.partition("\n")
        path = first.removeprefix("HUDDLE_TUNING=")
        if not label and path not in ("off", self.base):
            label = self.rule_of(path, collective, size) or ""
        if label and not label.startswith(f"HUDDLE_{collective.upper()}="):
            label = ""
        time = self.factor(label, collective, size) if label else self.own(collective, size)
        return self.state * (200 + size / 8) * time

    def noisy(self, ns):
        busy = self.random.uniform(1, 3) if self.random.random() < self.BUSY else 1
        return ns * self.random.gauss(1, self.NOISE) * busy

    def compare(self, collective, size, plan, which):
        shots = max(plan.low, min(plan.high, int(plan.seconds / len(which) / 2e-4)))
        figures = []
        for number in which:
            ns = self.ns(self.texts[number], collective, size)
            took = sorted(self.noisy(ns) for _ in range(shots))
            figures.append({"candidate": number, "refused": 0, "took_ns": took})
        self.clock[0] += min(plan.seconds, shots * len(which) * 2e-4)
        return {"line_before_ns": 60.0, "line_after_ns": 60.0, "figures": figures}


def tuning_file_rules(path):
    """Rules as a list of dictionaries, of what tune writes."""
    with open(path, encoding="utf-8") as file:
        parts = re.split(r"\n\[\[(\w+)\]\]\n", file.read())[1:]
    for name, lines in zip(parts[::2], parts[1::2]):
        keys = dict(re.findall(r'^(\w+) = "?([^"\n]*)"?$', lines, re.MULTILINE))
        low, high = (keys.pop("bytes", "0-").split("-")) if name != "barrier" else ("0", "")
        prefix = f"HUDDLE_{name.upper()}"
        algorithm = keys.pop("algorithm")
        for key in ("ranks", "oversubscribed", "within"):
            keys.pop(key, None)
        more = [f"{prefix}_{algorithm.upper()}_{k.upper()}={v}" for k, v in keys.items()]
        yield {
            "collective": name,
            "low": number(low),
            "high": number(high) if high else 1 << 40,
            "label": "\n".join([f"{prefix}={algorithm}", *more]),
        }


class MadeUp(unittest.TestCase):
    """Whole runs on a made-up machine, in made-up time."""

    SPOILT = {
        ("bcast", 4, 256 << 10): 1.6,
        ("allreduce", 4, 16 << 10): 1.4,
        ("alltoall", 4, 256 << 10): 2.0,
        ("bcast", 2, 64): 1.5,
    }

    def options(self, folder, **more):
        usual = {
            "output": os.path.join(folder, "tuning.toml"),
            "site": False,
            "force": False,
            "collectives": "bcast,allreduce,alltoall,barrier",
            "ranks": "2,4",
            "quick": False,
            "minutes": 5.0,
            "baselines": False,
            "against": None,
            "base": None,
            "plot": None,
            "bytes": None,
        }
        return types.SimpleNamespace(**{**usual, **more})

    def run_on(self, machine, **more):
        """(campaign, rules, undecided)"""
        with (
            tempfile.TemporaryDirectory() as folder,
            mock.patch.dict(os.environ, {"XDG_CACHE_HOME": folder}),
            mock.patch.object(screen, "Trials", machine),
            mock.patch.object(contest, "Trials", machine),
            mock.patch.object(together, "Trials", machine),
        ):
            options = self.options(folder, **more)
            run = campaign.Campaign(options, LAYOUT)
            run.budget = budget.Budget(60 * run.minutes, now=lambda: machine.clock[0])
            run.state.check_place()
            machine.base, machine.labels = run.base, {
                group.collective: [candidates.settings_text(c) for c in group.candidates]
                for group in run.groups()
            }
            quiet = types.SimpleNamespace(stage=lambda _: None, step=lambda: None)
            undecided = command.look_and_decide(run, quiet)
            return run, together.together(run, quiet)[0], undecided

    def test_spoilt_choices_are_found_and_no_others(self):
        for seed in some(range(6), 3):
            with self.subTest(seed=seed):
                machine = Machine(seed, self.SPOILT)
                _, rules, undecided = self.run_on(machine)
                found = {(r.collective, r.team.ranks, size) for r in rules for size in r.figures}
                self.assertEqual(set(), set(self.SPOILT) - found)
                self.assertEqual(
                    set(),
                    {(r.collective, r.team.ranks) for r in rules}
                    - {key[:2] for key in self.SPOILT},
                )
                self.assertEqual([], [c.cell for c in undecided])
                self.assertLess(machine.clock[0], 300)

    def test_no_file_is_written_where_nothing_was_measured(self):
        def dies(*_):
            raise Ended("it died")

        with (
            tempfile.TemporaryDirectory() as folder,
            mock.patch.dict(os.environ, {"XDG_CACHE_HOME": folder}),
            mock.patch.object(screen, "Trials", dies),
            mock.patch("sys.stdout", io.StringIO()),
        ):
            unset = dict.fromkeys(("machine", "network", "resume", "fresh"))
            options = self.options(folder, minutes=0.05, **unset)
            with self.assertRaisesRegex(Trouble, "no file is written: .* left out: it died"):
                command.main(options, [], LAYOUT)
            self.assertFalse(os.path.exists(options.output))

    def test_the_time_is_kept_whatever_it_is(self):
        for minutes in (0.05, 0.5, 2):
            with self.subTest(minutes=minutes):
                machine = Machine(1, self.SPOILT)
                self.run_on(machine, minutes=minutes)
                self.assertLess(machine.clock[0], 60 * minutes + Machine.START_S)


class Rules(unittest.TestCase):
    def rule(self, *sizes):
        good = figure(80, 100, True)
        return tuning_file.Rule(
            "bcast",
            Team(2, "core", False, ""),
            "2-3",
            Candidate("bcast", "queue", ()),
            5,
            None,
            {size: good for size in sizes},
            None,
        )

    def test_a_size_that_loses_is_taken_out(self):
        parts = together.split(self.rule(8, 16, 32, 64), {16})
        self.assertEqual(
            [(5, 8, [8]), (17, None, [32, 64])],
            [(r.min_bytes, r.max_bytes, list(r.figures)) for r in parts],
        )
        self.assertEqual([], together.split(self.rule(8), {8}))
        self.assertEqual([self.rule(8, 16)], together.split(self.rule(8, 16), set()))

    def result(self, size, ruled, peer_ns=None):
        cell = Cell("bcast", Team(2, "core", False, ""), size)
        return results.Result(cell, 100.0, 80.0, 0.8, 0.7, ruled, peer_ns and "ompi4", peer_ns)

    def test_the_table_has_what_changed_and_what_was_compared(self):
        with mock.patch("sys.stdout", io.StringIO()) as out:
            show.show_sizes([self.result(8, True), self.result(16, False)])
            self.assertRegex(out.getvalue(), r"bcast +2 +8 +0.10 us +0.08 us +0.80 +0.70\n$")
            show.show_sizes([self.result(1024, False, 160.0)])
            self.assertRegex(out.getvalue(), r"bcast +2 +1K .* ompi4 +0.16 us +0.50\n$")

    @unittest.skipIf(plot.pictures.missing(), "needs matplotlib")
    def test_the_plot_has_what_there_is(self):
        some = [self.result(8, True, 160.0), self.result(16, False)]
        text = plot.draw(some, "a title", "svg").decode()
        for words in ("a title", "before", "after", "best peer", "bcast, 2: 0.80 of before"):
            self.assertTrue(f"<!-- {words}" in text, words)
        self.assertIn(tuning_file.MARK.lstrip("# "), text[:4096])
        self.assertFalse("<!-- best peer" in plot.draw(some[1:], "", "svg").decode())
        self.assertEqual(b"\x89PNG", plot.draw(some, "", "png")[:4])


class TooLittleTime(unittest.TestCase):
    """A line has what could not be measured, and how many minutes would suffice."""

    CELLS = [Cell("bcast", Team(2, "core", False, ""), size) for size in (8, 16, 32, 64)]

    def campaign(self, measured, minutes=0.5):
        return types.SimpleNamespace(
            base=None,
            minutes=minutes,
            notes=[],
            failures=[],
            teams=[self.CELLS[0].team],
            collectives=[types.SimpleNamespace(name="bcast")],
            cells=lambda: self.CELLS,
            state=types.SimpleNamespace(has=self.CELLS[:measured].__contains__),
            groups=lambda: [types.SimpleNamespace(team=self.CELLS[0].team, sizes=[8, 16, 32, 64])],
        )

    def shown(self, measured, undecided=(), **more):
        with mock.patch("sys.stdout", io.StringIO()) as out:
            left = together.Left([], 0)
            show.show(self.campaign(measured, **more), [], [], undecided, left)
        return out.getvalue()

    def test_of_nothing(self):
        campaign, said = self.campaign(0, 0.01), "no size was measured, and no file is written: "
        self.assertEqual(
            f"tune: {said}the time was over; try --minutes 0.1", show.why_nothing(campaign)
        )
        campaign.failures = ["2 ranks, a launch was left out: it died", "another"]
        self.assertEqual(f"tune: {said}{campaign.failures[0]}", show.why_nothing(campaign))
        self.assertIsNone(show.why_nothing(self.campaign(1)))

    def test_of_choices(self):
        some = self.shown(1)
        self.assertIn("No choice is reliably better than the built-in table", some)
        self.assertIn("Not measured, the time was over: 3 of 4 size(s).", some)
        self.assertIn("More time decides more: --minutes 2.", some)
        undecided = [types.SimpleNamespace(cell=self.CELLS[0])]
        self.assertIn("Not decided, the time was over: 1 size(s)", self.shown(4, undecided))
        self.assertIn("more: --minutes 1.", self.shown(4, undecided))
        self.assertNotIn("--minutes", self.shown(4))

    def test_minutes(self):
        for minutes, words in ((0.01, "0.1"), (0.1, "0.1"), (0.31, "0.4"), (1, "1"), (1.2, "2")):
            self.assertEqual(words, needed.text(minutes))
        self.assertEqual(4, needed.for_choices(1, 100, 75, 2))
        self.assertEqual(2, needed.for_choices(1, 100, 0, 2))
        self.assertGreater(needed.for_choices(0.01, 400, 400, 2), 1)
        self.assertEqual(1, needed.for_times(0.5, 1, 1))
        self.assertGreater(needed.for_times(0.5, 100, 3), 20)

    def against(self, launches, spent=()):
        work = against.Against.__new__(against.Against)
        work.campaign, work.pairs = self.campaign(4), {"ompi4": "after"}
        kinds = {"ompi4": "peer", "before": "huddle", "after": "huddle"}
        work.variants = [types.SimpleNamespace(name=n, kind=kind) for n, kind in kinds.items()]
        work.given_s, work.launch_s = 7.2, list(spent)
        work.figures = {(self.CELLS[0], name): ns for name, ns in launches.items()}
        return work.why_no_times()

    def test_of_times_of_other_mpis(self):
        for launches, spent, words in (
            ({}, (), "in the 7 s for other MPIs none of the launches"),
            (
                {"ompi4": [1], "before": [1], "after": [1]},
                (2, 2, 2),
                "MPIs 3 of the launches ended",
            ),
            ({"ompi4": [1, 1], "after": [1]}, (2, 2, 2), "MPIs 3 of the launches ended"),
        ):
            with self.subTest(launches=launches):
                why = self.against(launches, spent)
                self.assertIn(words, why)
                self.assertRegex(why, r"needs two .* and two with huddle; try --minutes [1-9]")
        twice = self.against({"ompi4": [1, 9], "after": [1, 9]}, (2, 2, 2, 2))
        self.assertIn("no two launches agree", twice)


if __name__ == "__main__":
    unittest.main()
