# SPDX-License-Identifier: BSD-3-Clause
"""
huddle tune: statistics on made-up times, the file and its rules, short real runs.  test_tune.py
BUILD.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest
from unittest import mock

from said import long_test

BUILD = os.path.abspath(sys.argv.pop(1))
HUDDLE = os.path.join(BUILD, "bin", "huddle")
sys.path.insert(0, os.path.join(BUILD, "libexec", "huddle"))

from huddle_cli.common import candidates, stop  # noqa: E402
from huddle_cli.tune import grid, stats, tuning_file  # noqa: E402
from huddle_cli.common.candidates import Candidate, Value  # noqa: E402
from huddle_cli.common.layout import Trouble  # noqa: E402
from huddle_cli.tune.grid import Team  # noqa: E402
from huddle_cli.tune.state import State  # noqa: E402
from huddle_cli.tune.stats import Figure, Piece  # noqa: E402
from huddle_cli.tune.trials import KEPT, Trials  # noqa: E402

NOISE = [0, 3, -2, 5, -4, 1, -1, 2, -3, 4, 0, -5]  # per cent


def times(median, count=12):
    return [median * (1 + n / 100) for n in NOISE[:count]]


def figure(ns, own_ns, better):
    return Figure(ns, own_ns, 50, better)


class Statistics(unittest.TestCase):
    def test_better_needs_a_margin_and_enough_shots(self):
        self.assertTrue(stats.figure_of(times(900), times(1000)).better)
        self.assertFalse(
            stats.figure_of([970] * 12, [1000] * 12).better,
            "3 % are too little, be they ever so sure",
        )
        self.assertFalse(
            stats.figure_of(times(900, 3), times(1000, 3)).better, "three shots are no evidence"
        )
        self.assertFalse(
            stats.figure_of([500, 2000] * 20, [1000, 1100] * 20).better,
            "what scatters so is no better",
        )
        self.assertEqual((900, 1000, 12), stats.figure_of(times(900), times(1000))[:3])

    def test_chance(self):
        self.assertAlmostEqual(0.5, stats.chance(times(1000), times(1000)), places=2)
        self.assertGreater(stats.chance(times(1100), times(1000)), 0.99)
        self.assertEqual(0.5, stats.chance([7] * 5, [7] * 5))

    def test_halving_keeps_the_better_half_and_not_too_few(self):
        some = {label: [ns] for label, ns in zip("abcdefgh", (8, 1, 7, 2, 6, 3, 5, 4))}
        self.assertEqual(list("bdfh"), stats.best_half(some, 3))
        self.assertEqual(list("bdf"), stats.best_half({k: some[k] for k in "bdfa"}, 3))

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

    def test_where_nothing_is_better_huddle_s_own_choice_stays(self):
        self.assertEqual([Piece(None, 0, 1)], stats.choose([{"a": figure(96, 100, False)}, {}]))

    def test_what_was_not_measured_is_not_chosen(self):
        self.assertEqual(
            [Piece("a", 0, 0), Piece(None, 1, 1)], stats.choose([{"a": figure(50, 100, True)}, {}])
        )

    def test_a_rule_holds_only_if_it_does_no_harm(self):
        good = figure(80, 100, True)
        self.assertTrue(stats.holds([good, figure(98, 100, False)]))
        self.assertFalse(stats.holds([good, figure(110, 100, False)]))
        self.assertFalse(stats.holds([figure(98, 100, False)]))


class Conditions(unittest.TestCase):
    def test_of_every_setting_it_is_known_whether_it_holds_while_tune_measures(self):
        rows = json.loads(
            subprocess.run(
                [HUDDLE, "settings", "--json"], stdout=subprocess.PIPE, check=True
            ).stdout
        )["settings"]
        rows_of_info = json.loads(
            subprocess.run([HUDDLE, "info", "--json"], stdout=subprocess.PIPE, check=True).stdout
        )["algorithms"]
        algorithms = tuple(
            f"HUDDLE_{row['collective']}_{row['name']}_".upper() for row in rows_of_info
        )
        others = {row["name"] for row in rows if not row["name"].startswith(algorithms)} - set(KEPT)
        choices = {
            "HUDDLE_BARRIER",
            "HUDDLE_BCAST",
            "HUDDLE_REDUCE",
            "HUDDLE_ALLREDUCE",
            "HUDDLE_REDUCE_SCATTER",
            "HUDDLE_ALLTOALL",
            "HUDDLE_ALLTOALLV",
        }
        self.assertEqual(
            {
                "HUDDLE",
                *choices,
                "HUDDLE_TUNING",
                "HUDDLE_FIRST",
                "HUDDLE_ON_DEATH",
                "HUDDLE_STATS",
                "HUDDLE_LOG",
                "HUDDLE_CHECK",
                "HUDDLE_CHECK_TIMEOUT",
                "HUDDLE_JOB",
            },
            others,
        )

    def test_teams_of_other_places_have_other_figures(self):
        cells = {
            State.name("bcast", Team(2, "core", False, within), 8) for within in ("l3", "numa")
        }
        self.assertEqual(2, len(cells))


class Grid(unittest.TestCase):
    def test_ranks(self):
        self.assertEqual([2, 8], grid.usual_ranks(2))
        self.assertEqual([2, 4, 6, 24], grid.usual_ranks(6))
        self.assertEqual([2, 4, 8, 16, 32, 64, 128, 256], grid.usual_ranks(128))
        self.assertEqual([4], grid.usual_ranks(1))

    def test_each_number_of_ranks_stands_for_those_up_to_the_next(self):
        teams = [Team(2, "core", False, ""), Team(4, "core", False, ""), Team(16, "none", True, "")]
        self.assertEqual(["2-3", "4-", "2-"], list(tuning_file.ranks_texts(teams).values()))

    def test_of_values_that_a_message_does_not_reach_the_least_stands_for_all(self):
        some = [
            Candidate("bcast", "queue", values)
            for values in ((), (Value("fragment", "4K", 4096),), (Value("fragment", "8K", 8192),))
        ]
        self.assertEqual([True, True, False], [candidates.differs(c, 4096, some) for c in some])
        self.assertEqual([True, True, True], [candidates.differs(c, 4097, some) for c in some])

    def test_the_hopeless_are_left_out_at_large_sizes(self):
        some = [Candidate("bcast", name, ()) for name in ("a", "b", "c")]
        figures = {
            candidates.settings_text(c): figure(ns, 100, False) for c, ns in zip(some, (100, 201))
        }
        self.assertEqual(
            [1],
            candidates.worth_trying(some, 1 << 18, 1 << 17, figures),
            "b was slow, c did not take the size before",
        )
        self.assertEqual([1, 2, 3], candidates.worth_trying(some, 1 << 14, 1 << 13, figures))

    def test_settings(self):
        self.assertEqual(
            "HUDDLE_BCAST=queue\nHUDDLE_BCAST_QUEUE_FRAGMENT=8K",
            candidates.settings_text(Candidate("bcast", "queue", (Value("fragment", "8K", 8192),))),
        )


class Watch(unittest.TestCase):
    def test_an_interrupt_while_it_starts_leaves_nobody_waiting(self):
        begun = []

        class Interrupted(threading.Timer):
            def start(self):
                super().start()
                begun.append(self)
                raise KeyboardInterrupt

        trials = Trials.__new__(Trials)
        trials.process = types.SimpleNamespace(kill=lambda: None)
        with (
            mock.patch.object(threading, "Timer", Interrupted),
            self.assertRaises(KeyboardInterrupt),
        ):
            trials.answer(1000)
        begun[0].join(10)
        self.assertFalse(begun[0].is_alive(), "and would be waited for at the end of the process")


class Runs(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = self.scratch.name
        self.file = os.path.join(self.folder, "out", "tuning.toml")
        os.mkdir(os.path.dirname(self.file))
        clean = {k: v for k, v in os.environ.items() if not k.startswith("HUDDLE")}
        self.environment = {
            **clean,
            "XDG_CACHE_HOME": os.path.join(self.folder, "cache"),
            "XDG_CONFIG_HOME": os.path.join(self.folder, "config"),
        }

    def tearDown(self):
        self.scratch.cleanup()

    def huddle(self, *words, **more):
        return subprocess.run(
            [HUDDLE, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.folder,
            env={**self.environment, **more},
            timeout=240,
            check=False,
        )

    def tune(self, *words):
        return self.huddle("tune", "--output", self.file, *words)

    def read(self):
        with open(self.file, encoding="utf-8") as file:
            return file.read()

    def saved(self):
        """Cells in the state file."""
        folder = os.path.join(self.folder, "cache", "huddle")
        for name in os.listdir(folder) if os.path.isdir(folder) else []:
            if name.endswith(".json"):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    return len(json.load(file)["cells"])
        return 0

    def stop(self, how):
        """A run that is stopped once it has measured something; returns the process, ended."""
        process = subprocess.Popen(
            [
                HUDDLE,
                "tune",
                "--output",
                self.file,
                "--ranks",
                "2",
                "--collectives",
                "bcast",
                "--quick",
                "--minutes",
                "5",
            ],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        while process.poll() is None and self.saved() == 0:
            time.sleep(0.05)
        os.killpg(process.pid, how) if how == signal.SIGINT else process.send_signal(how)
        self.said = process.communicate(timeout=60)
        return process

    def nobody_left(self):
        """Waits until no process has our folder as its own."""

        def here(pid):
            try:
                return os.readlink(f"/proc/{pid}/cwd") == os.path.realpath(self.folder)
            except OSError:
                return False

        while any(here(pid) for pid in os.listdir("/proc") if pid.isdigit()):
            time.sleep(0.05)

    def test_a_file_that_the_library_reads(self):
        with open(self.file, "w", encoding="utf-8") as file:
            file.write("# mine\n")
        answer = self.tune("--ranks", "2", "--collectives", "barrier", "--minutes", "0.02")
        self.assertEqual((1, ""), (answer.returncode, answer.stdout))
        self.assertRegex(answer.stderr, r"^huddle: [^\n]*not written by 'huddle tune'[^\n]*\n$")
        self.assertEqual("# mine\n", self.read())
        answer = self.tune(
            "--ranks", "2,5", "--collectives", "barrier", "--minutes", "0.03", "--force"
        )
        self.assertEqual(0, answer.returncode, answer.stderr)
        self.assertIn(f"Written: {self.file}", answer.stdout)
        self.assertTrue(self.read().startswith(tuning_file.MARK))
        self.assertEqual(0, self.saved(), "the state of a whole run is forgotten")
        explained = json.loads(
            self.huddle("explain", "barrier", "--json", HUDDLE_TUNING=self.file).stdout
        )
        self.assertIsNone(explained["error"])
        self.assertEqual(
            0,
            self.tune("--ranks", "2", "--collectives", "barrier", "--minutes", "0.02").returncode,
            "its own file is overwritten",
        )

    def test_rules_are_lines_that_explain_names(self):
        rules = [
            tuning_file.Rule(
                "bcast",
                Team(2, "core", False, ""),
                "2-3",
                Candidate("bcast", "queue", (Value("fragment", "8K", 8192),)),
                513,
                65536,
                {1024: figure(80, 100, True), 65536: figure(70, 100, True)},
                55.5,
            ),
            tuning_file.Rule(
                "barrier",
                Team(9, "none", True, ""),
                "2-",
                Candidate("barrier", "mcs", ()),
                None,
                None,
                {0: figure(80, 100, True)},
                None,
            ),
        ]
        facts = {
            "version": "0",
            "processors": os.sysconf("SC_NPROCESSORS_ONLN"),
            "cpu": 'a "name"',
            "line": "",
        }
        tuning_file.write(self.file, tuning_file.text(rules, facts, "huddle tune"))
        lines = self.read().split("\n")
        self.assertIn("#   64 KB: 0.10 us built in, 0.07 us so", lines)
        for words, algorithm, table in (
            (("bcast", "--bytes", "1K", "--ranks", "2"), "queue", "[[bcast]]"),
            (("bcast", "--bytes", "64K", "--ranks", "2"), "queue", "[[bcast]]"),
            (("barrier", "--ranks", "2000"), "mcs", "[[barrier]]"),
        ):
            answer = json.loads(
                self.huddle(
                    "explain", *words, "--json", HUDDLE_TUNING=self.file, HUDDLE_MEMORY="10M"
                ).stdout
            )
            with self.subTest(words=words):
                self.assertIsNone(answer["error"])
                self.assertEqual(
                    (algorithm, "tuning file", table),
                    (
                        answer["serves"]["algorithm"],
                        answer["why"]["by"],
                        lines[answer["why"]["line"] - 1],
                    ),
                )
        for words in (
            ("bcast", "--bytes", "512", "--ranks", "2"),
            ("bcast", "--bytes", "1K", "--ranks", "4"),
            ("barrier", "--ranks", "1"),
        ):
            answer = json.loads(
                self.huddle(
                    "explain", *words, "--json", HUDDLE_TUNING=self.file, HUDDLE_MEMORY="10M"
                ).stdout
            )
            self.assertIn(answer["why"]["by"], ("built-in table", "one rank"), words)

    @long_test
    def test_a_run_that_was_killed_goes_on(self):
        self.assertEqual(2, self.tune("--resume").returncode, "there is nothing to go on with")
        self.assertEqual(-signal.SIGKILL, self.stop(signal.SIGKILL).returncode)
        self.nobody_left()
        before = self.saved()
        self.assertGreater(before, 0)
        again = (
            "--output",
            self.file,
            "--ranks",
            "2",
            "--collectives",
            "bcast",
            "--quick",
            "--minutes",
            "0.05",
            "--resume",
        )
        for name, value in (
            ("HUDDLE_LEASE", "256K"),
            ("HUDDLE_LEVELS_OFF", "l2"),
            ("HUDDLE_CMA", "off"),
        ):
            with self.subTest(name):
                self.assertEqual(
                    2,
                    self.huddle("tune", *again, **{name: value}).returncode,
                    "what was measured with other settings says nothing",
                )
        mine = os.sched_getaffinity(0)
        if len(mine) > 1:
            os.sched_setaffinity(0, {min(mine)})
            try:
                self.assertEqual(
                    2,
                    self.huddle("tune", *again).returncode,
                    "nor what was measured on other processors",
                )
            finally:
                os.sched_setaffinity(0, mine)
        answer = self.huddle("tune", *again)
        self.assertEqual(0, answer.returncode, answer.stderr)
        self.assertIn(f"{before} of 11 measurements are there", answer.stdout)

    def test_an_interrupt_says_how_to_go_on(self):
        for how, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            with self.subTest(how=how):
                self.assertEqual(status, self.stop(how).returncode)
                self.assertRegex(self.said[1], r"stopped; \d+ of 11 measurements are kept")
                self.assertFalse(os.path.exists(self.file))
                self.nobody_left()
                shutil.rmtree(os.path.join(self.folder, "cache"))

    def test_a_signal_to_all_is_no_fault_of_the_program_that_dies_first(self):
        with open(os.path.join(self.folder, "bench-trials"), "w", encoding="utf-8") as file:
            file.write(
                "#!/bin/sh\necho '{}'\nread question\n(sleep 0.2; kill -TERM $PPID) >/dev/null 2>&1"
                " &\nkill -TERM $$\n"
            )
        os.chmod(file.name, 0o755)
        before = signal.signal(signal.SIGTERM, stop.raise_once)
        try:
            with self.assertRaises(stop.Terminated):
                with Trials(
                    types.SimpleNamespace(tools=self.folder), Team(2, "core", False, ""), []
                ) as trials:
                    trials.compare("barrier", 0, 1, 1, 1, [0])
        finally:
            signal.signal(signal.SIGTERM, before)

    def one_line(self, answer, said):
        self.assertIn(answer.returncode, (1, 2))
        self.assertEqual("", answer.stdout, "nothing was measured")
        self.assertRegex(answer.stderr, r"^huddle: [^\n]*\n$")
        self.assertIn(said, answer.stderr)

    def test_errors_are_one_line(self):
        nowhere = os.path.join(self.folder, "nowhere")
        for words, said in (
            (("--ranks", "1"), "--ranks 1"),
            (("--collectives", "scan"), "scan"),
            (("--minutes", "0"), "--minutes 0"),
            (("--output", self.folder), "cannot be written"),
            (("--output", ""), "--output"),
            (("--output", "/proc/x"), "/proc/x cannot be written"),
            (("--output", "/dev/null"), "no regular file"),
            (("--output", os.path.join(nowhere, "t.toml")), f"no such directory: {nowhere}"),
        ):
            with self.subTest(words=words):
                self.one_line(self.tune(*words), said)
        self.assertFalse(os.path.exists(nowhere))
        self.assertEqual(
            [], os.listdir(os.path.dirname(self.file)), "what was tried out is removed"
        )

    def test_usual_places_that_cannot_be_made_are_one_line(self):
        blocked = os.path.join(self.folder, "file")
        with open(blocked, "w", encoding="utf-8"):
            self.one_line(self.huddle("tune", XDG_CONFIG_HOME=blocked), "--output FILE")
            self.one_line(
                self.huddle("tune", "--output", self.file, XDG_CACHE_HOME=blocked), "XDG_CACHE_HOME"
            )

    def test_a_file_that_cannot_be_written_in_the_end_is_one_line(self):
        with self.assertRaisesRegex(Trouble, "what was measured is kept"):
            tuning_file.write("/proc/tuning.toml", "")


if __name__ == "__main__":
    signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # what a shell runs in the background ignores it, and so would those started here
    unittest.main()
