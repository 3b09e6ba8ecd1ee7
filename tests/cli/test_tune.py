# SPDX-License-Identifier: BSD-3-Clause
"""
huddle tune: the file and its rules, short real runs.  test_tune.py BUILD.
"""

import json
import os
import re
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

from huddle_cli.common import stop  # noqa: E402
from huddle_cli.tune import tuning_file  # noqa: E402
from huddle_cli.common.candidates import Candidate, Value  # noqa: E402
from huddle_cli.common.layout import Trouble  # noqa: E402
from huddle_cli.common.sizes import number  # noqa: E402
from huddle_cli.tune.grid import Team  # noqa: E402
from huddle_cli.tune.state import Cell, State  # noqa: E402
from huddle_cli.tune.stats import Figure  # noqa: E402
from huddle_cli.common.trials import KEPT, Plan, Trials  # noqa: E402

GENEROUS_S = 60  # beyond what was announced: that it is no multiple of it


def figure(ns, own_ns, better):
    ratio = ns / own_ns
    return Figure(ns, own_ns, None, None, ratio, ratio, ratio, 3, better, 0.0)


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
        choices = {f"HUDDLE_{row['collective']}".upper() for row in rows_of_info}
        self.assertEqual(
            {
                "HUDDLE",
                *choices,
                "HUDDLE_TUNING",
                "HUDDLE_ADAPT",
                "HUDDLE_DEVICES",
                "HUDDLE_FIRST",
                "HUDDLE_NONBLOCKING",
                "HUDDLE_ON_DEATH",
                "HUDDLE_STATS",
                "HUDDLE_RECORD",
                "HUDDLE_LOG",
                "HUDDLE_CHECK",
                "HUDDLE_CHECK_TIMEOUT",
                "HUDDLE_JOB",
                "HUDDLE_NODES",
                "HUDDLE_NODES_TREE",
                "HUDDLE_NODES_DEGREE",
                "HUDDLE_NODES_FRAGMENT",
                "HUDDLE_NONBLOCKING",
            },
            others,
        )

    def test_teams_of_other_places_have_other_figures(self):
        cells = {
            State.name(Cell("bcast", Team(2, "core", False, within), 8))
            for within in ("l3", "numa")
        }
        self.assertEqual(2, len(cells))


class Watch(unittest.TestCase):
    def test_an_interrupt_while_it_starts_leaves_nobody_waiting(self):
        begun = []

        class Interrupted(threading.Timer):
            def start(self):
                super().start()
                begun.append(self)
                raise KeyboardInterrupt

        trials = Trials.__new__(Trials)
        trials.left = lambda: 1000
        trials.process = types.SimpleNamespace(kill=lambda: None)
        with (
            mock.patch.object(threading, "Timer", Interrupted),
            self.assertRaises(KeyboardInterrupt),
        ):
            trials.answer(1000)
        begun[0].join(10)
        self.assertFalse(begun[0].is_alive(), "and would be waited for at the end of the process")


class Scratch(unittest.TestCase):
    """Runs with files of their own."""

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


class Runs(Scratch):
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
            "--ranks", "2,5", "--collectives", "barrier", "--minutes", "0.5", "--force"
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
            self.tune("--ranks", "2", "--collectives", "barrier", "--minutes", "0.5").returncode,
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
        self.assertIn(
            "#   64 KB: 0.10 us without this rule, 0.07 us with it; ratio 0.70 (0.70 to 0.70"
            " in 3 launches)",
            lines,
        )
        self.assertIn("# bcast, 2 ranks, bound to cores in turn; line transfer 56 ns (near)", lines)
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
        self.assertIn(f"{before} of 11 measurements are kept", answer.stdout)

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
                    trials.compare("barrier", 0, Plan(1, 1, 1, 0, True), [0])
        finally:
            signal.signal(signal.SIGTERM, before)

    def test_it_ends_at_the_time_it_announced(self):
        begin = time.monotonic()
        answer = self.tune("--minutes", "0.1")
        if answer.returncode != 0:  # a busy machine
            self.assertIn("no size was measured, and no file is written", answer.stderr)
            self.assertFalse(os.path.exists(self.file))
        self.assertLess(time.monotonic() - begin, 6 + GENEROUS_S)
        self.assertIn("at most 0.1 minute(s)", answer.stdout)

    def test_other_mpis_are_measured_in_turn(self):
        words = ("--ranks", "2", "--collectives", "bcast", "--bytes", "1K", "--minutes", "0.6")
        answer = self.tune("--against", "all", *words)
        if "no MPI found" in answer.stderr:
            self.skipTest("no MPI here")
        self.assertEqual(0, answer.returncode, answer.stderr)
        self.assertRegex(answer.stdout, r"bcast +2 +1K .* us +[\d.]+\n")
        self.assertIn("after to best peer", answer.stdout)

    def one_line(self, answer, said):
        self.assertIn(answer.returncode, (1, 2))
        self.assertEqual("", answer.stdout, "nothing was measured")
        self.assertRegex(answer.stderr, r"^huddle: [^\n]*\n$")
        self.assertIn(said, answer.stderr)

    def test_errors_are_one_line(self):
        nowhere = os.path.join(self.folder, "nowhere")
        for words, said in (
            (("--ranks", "1"), "--ranks 1"),
            (("--ranks", ""), "--ranks ''"),
            (("--collectives", "rotate"), "scan"),
            (("--collectives", ""), "--collectives ''"),
            (("--minutes", "0"), "--minutes 0"),
            (("--minutes", "nan"), "--minutes nan"),
            (("--minutes", "soon"), "soon"),
            (("--bytes", "9"), "--bytes"),
            (("--bytes", "x"), "--bytes x: "),
            (("--from", nowhere), "--from"),
            (("--from", __file__), "--from"),
            (("--against", "lam"), "--against"),
            (("--against", ""), "--against ''"),
            (("--plot", ""), "--plot"),
            (("--network", "mpirun 'x"), "No closing quotation"),
            (("--plot", os.path.join(nowhere, "p.svg")), "--plot"),
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


class Spoilt(Scratch):
    """Real measurements: they need the processors for themselves (RUN_SERIAL)."""

    ATTEMPTS = 3  # on a machine that may be busy with other work

    def spoil(self, *rules):
        """A tuning file with choices that are much worse than others."""
        path = os.path.join(self.folder, "spoilt.toml")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(f"[[{name}]]\n{lines}\n" for name, lines in rules))
        return path

    def found(self, *words):
        """[(collective, bytes)] of the rules that a run wrote before the file it began with."""
        answer = self.tune(*words)
        self.assertEqual(0, answer.returncode, answer.stderr)
        new = self.read().partition("# What follows is from")[0]
        return answer, re.findall(r'\[\[(\w+)\]\][^[]*?bytes = "([^"]*)"', new)

    def test_a_spoilt_choice_is_found(self):
        spoilt = self.spoil(("bcast", 'bytes = "64K-1M"\nalgorithm = "queue"\nfragment = "64"'))
        words = ("--ranks", "2", "--collectives", "bcast", "--bytes", "256K", "--minutes", "1")
        rules = []
        for _ in range(self.ATTEMPTS):
            if not rules:
                answer, rules = self.found("--from", spoilt, *words)
        busy = os.getloadavg()[0] > len(os.sched_getaffinity(0))
        undecided = re.search("the time was over|Not decided in the final", answer.stdout)
        if not rules and (busy or undecided):
            self.skipTest("other programs keep the processors busy, or these move")
        self.assertEqual([("bcast", "131073-256K")], rules, answer.stdout)
        self.assertRegex(answer.stdout, r"bcast +2 +256K +[\d.]+ us +[\d.]+ us +\d\.\d\d ")
        measured = (
            r"# +256 KB: .* without this rule, .* with it; ratio (0\.\d\d) \(.* in \d launches"
        )
        self.assertRegex(self.read(), measured)
        self.assertLessEqual(float(re.search(measured, self.read())[1]), 0.95)
        self.assertIn('fragment = "64"', self.read(), "the rules of that file follow")
        explained = json.loads(
            self.huddle(
                "explain",
                "bcast",
                "--bytes",
                "1M",
                "--ranks",
                "2",
                "--json",
                HUDDLE_TUNING=self.file,
            ).stdout
        )
        self.assertEqual("queue", explained["serves"]["algorithm"])

    @long_test
    def test_each_of_several_spoilt_choices_is_found(self):
        spoilt = self.spoil(
            ("bcast", 'bytes = "131073-256K"\nalgorithm = "queue"\nfragment = "512"'),
            ("allreduce", 'bytes = "8193-16K"\nalgorithm = "tree"\nfragment = "512"'),
            ("alltoall", 'bytes = "131073-256K"\nalgorithm = "windows"\ntile = "512"'),
        )
        words = ("--ranks", "2", "--collectives", "bcast,allreduce,alltoall", "--minutes", "1.5")
        answer, rules = self.found("--from", spoilt, *words)
        for name, size in (("bcast", 256), ("allreduce", 16), ("alltoall", 256)):
            ends = [text for found, text in rules if found == name and self.holds(text, size)]
            self.assertTrue(ends, f"{name} {size}K in {rules}: {answer.stdout}")

    @staticmethod
    def holds(text, kilobytes):
        """'8193-16K' holds 16."""
        low, high = (number(word) if word else 1 << 40 for word in text.split("-"))
        return low <= kilobytes << 10 <= high


if __name__ == "__main__":
    signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # what a shell runs in the background ignores it, and so would those started here
    unittest.main()
