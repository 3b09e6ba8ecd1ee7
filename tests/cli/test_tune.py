# SPDX-License-Identifier: BSD-3-Clause
"""Tests huddle tune: what it makes calls of, until when, what it prints and writes."""

import contextlib
import io
import json
import os
import subprocess
import tempfile
import time
import types
import unittest
from unittest import mock

import pytest
import wisdom_files
from harness import run_huddle
from paths import BUILD

from cli.bench import variants
from cli.common import jobs, launching, peers, rules, wisdom, wisdom_place
from cli.common.command_line import Argument, Option, options_from
from cli.common.layout import CliError
from cli.common.validators import BadValue
from cli.tune import command, driver, grid, network, report, tuning_file
from cli.tune.driver import Driver
from cli.tune.grid import Cell

pytestmark = pytest.mark.serial

GENEROUS_S = 60  # beyond the announced time
MPI = peers.Mpi("ompi4", "ompi4", "Open MPI 4.1.4", "/ompi4/mpirun", {})
FOUND = {
    "ompi3": peers.Mpi("ompi3", "ompi3", "Open MPI 3.1.6", "/ompi3/mpirun", {}),
    "ompi4": MPI,
    "mpich4": peers.Mpi("mpich4", "mpich4", "MPICH 4.0.2", "/mpich4/mpirun", {}),
}


def collective(name, blocks=False, moves=True, reduces=False):
    return types.SimpleNamespace(name=name, blocks=blocks, moves=moves, reduces=reduces)


class Grid(unittest.TestCase):
    def test_ranks(self):
        self.assertEqual([2, 4], grid.usual_ranks(2))
        self.assertEqual([2, 4, 6, 12], grid.usual_ranks(6))
        self.assertEqual([2, 4, 8, 16, 32, 64, 128, 256], grid.usual_ranks(128))
        self.assertEqual([2], grid.usual_ranks(1))
        self.assertEqual([2, 16], grid.ranks_of("16,2"))
        for text in ("1", "", "2,", "x", "2000"):
            with self.assertRaises(BadValue):
                grid.ranks_of(text)

    def test_sizes_are_one_of_each_class(self):
        self.assertEqual([8, 16, 32, 64, 112, 128, 256, 512], grid.SIZES[:8])
        self.assertEqual(16 << 20, grid.SIZES[-1])
        self.assertEqual([112, 4096], grid.asked_sizes([4096, 112]))
        with self.assertRaisesRegex(CliError, "--bytes 9: not a size that is tried"):
            grid.asked_sizes([8, 9])

    def test_cells(self):
        self.assertEqual(
            [Cell("barrier", "", 2, 0)],
            grid.cells_of(2, collective("barrier", moves=False), grid.SIZES),
        )
        self.assertEqual(
            [Cell("scan", kind, 4, size) for kind in ("inexact", "exact") for size in (8, 16)],
            grid.cells_of(4, collective("scan", reduces=True), [8, 16]),
        )
        for blocks, most in ((False, 4 << 20), (True, 256 << 10)):
            cells = grid.cells_of(16, collective("x", blocks=blocks), grid.SIZES)
            self.assertEqual(most, cells[-1].size, "larger ones take the time of many")

    def test_the_cell_of_a_line(self):
        for text, cell in (
            ("bcast ranks=2 bytes=32769-64K divided=no -> queue", Cell("bcast", "", 2, 65536)),
            ("scan reduction=exact ranks=4 bytes=0-8 -> mpi", Cell("scan", "exact", 4, 8)),
            ("barrier ranks=8 -> flags", Cell("barrier", "", 8, 0)),
            ("bcast ranks=2 bytes=33554433- -> queue", None),
            ("bcast ranks=4 nodes=2 bytes=0-8 -> queue", None),
            ("bcast bytes=0-8 -> queue", None),
        ):
            self.assertEqual(cell, grid.cell_of(rules.parse(text)), text)


class Learner:
    """A fake of launches whose learner decides a cell after a number of its calls."""

    def __init__(self, folder, needs):
        """Takes {(collective, size): calls that decide the cell}.  Decides no other cell."""
        self.file, self.needs, self.words = os.path.join(folder, "found.rules"), needs, []
        self.layout = types.SimpleNamespace(ask=self.ask)
        self.slow = False  # no time suffices for all calls that are asked for

    def ask(self, *words, stdin):
        """Answers as `query lines`, which understands all lines of the file."""
        assert words[:2] == ("lines", self.file)
        return wisdom_files.answer(list(range(1, stdin.count("\n") + 1)))

    def command_of(self, _layout, variant, ranks, bind, words):
        assert variant.settings["HUDDLE_WISDOM"] == self.file
        self.words.append((ranks, bind, words))
        return words, {}

    def run(self, words, _env, limit_s):
        assert limit_s > 0
        value = dict(zip(words, words[1:]))
        ranks = self.words[-1][0]
        calls = int(value["--min"]) * int(value.get("--loop", 1))
        sizes = list(map(int, value["--bytes"].split(",")))
        with open(self.file, "a", encoding="utf-8") as file:
            for size in sizes:
                name = value["--coll"]
                if calls >= self.needs.get((name, size), 1 << 30):
                    file.write(f"{name} ranks={ranks} bytes={size} -> queue | ns=9\n")
        shots = int(value["--min"]) if not self.slow else 1
        figures = [{"bytes": size, "shots": shots} for size in sizes]
        return "said\n" + json.dumps({"program": "x", "figures": figures}) + "\n"

    def drive(self, cells, seconds=60):
        found = Driver(self.layout, MPI, self.file, cells)
        progress = types.SimpleNamespace(done=0, stage=lambda _: None, draw=lambda: None)
        with (
            mock.patch.object(jobs, "run", self.run),
            mock.patch.object(variants, "command_of", self.command_of),
        ):
            for ranks in dict.fromkeys(cell.ranks for cell in cells):
                found.run(ranks, time.monotonic() + seconds, progress)
        self.done = progress.done
        return found


class Drive(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name

    def test_calls_are_made_until_all_cells_are_decided(self):
        learner = Learner(self.folder, {("bcast", 8): 1, ("bcast", 64): 200, ("scan", 8): 300})
        cells = [Cell(name, "", 2, size) for name, size in learner.needs]
        found = learner.drive(cells)
        self.assertEqual(({}, [], 3), (found.undecided, found.failures, learner.done))
        asked = [(words[1], words[3], words[5]) for _, _, words in learner.words]
        self.assertEqual(
            [("bcast", "8,64", "160"), ("scan", "8", "160"), ("bcast", "64", "320")]
            + [("scan", "8", "320")],
            asked,
            "each turn makes twice as many calls, of what is undecided",
        )

    def test_large_messages_are_called_back_to_back(self):
        learner = Learner(self.folder, {("bcast", 1 << 20): 1, ("bcast", 8): 1})
        learner.drive([Cell("bcast", "", 2, 1 << 20), Cell("bcast", "", 2, 8)])
        self.assertEqual(["8", "1048576"], [words[3] for _, _, words in learner.words])
        self.assertNotIn("--loop", learner.words[0][2])
        self.assertEqual(["--loop", "8"], learner.words[1][2][-3:-1])

    def test_sums_of_integers_have_their_own_cells(self):
        learner = Learner(self.folder, {})
        learner.drive([Cell("scan", kind, 2, 8) for kind in ("inexact", "exact")])
        self.assertEqual(
            [False, True] * 2, ["--integers" in words for _, _, words in learner.words]
        )

    def test_tune_stops_if_more_calls_decide_nothing(self):
        learner = Learner(self.folder, {("bcast", 8): 1})
        found = learner.drive([Cell("bcast", "", 2, 8), Cell("scan", "", 2, 8)])
        self.assertEqual({Cell("scan", "", 2, 8): "after 320 calls of each"}, found.undecided)

    def test_cells_are_undecided_when_the_time_is_over(self):
        learner = Learner(self.folder, {})
        learner.slow = True
        found = learner.drive([Cell("bcast", "", 2, 8)])
        self.assertEqual({Cell("bcast", "", 2, 8): driver.OVER}, found.undecided)

    def test_tune_stops_when_its_time_is_over(self):
        learner = Learner(self.folder, {})
        found = learner.drive([Cell("bcast", "", 2, 8)], seconds=0)
        self.assertEqual([], learner.words)
        self.assertEqual({Cell("bcast", "", 2, 8): driver.OVER}, found.undecided)

    def test_more_ranks_than_cores_are_not_bound(self):
        cores = jobs.cores()
        learner = Learner(self.folder, {})
        learner.drive([Cell("bcast", "", ranks, 8) for ranks in (cores, cores + 1)])
        self.assertEqual({cores: True, cores + 1: False}, {r: b for r, b, _ in learner.words})

    def test_a_launch_that_fails_is_reported(self):
        learner = Learner(self.folder, {})
        learner.run = mock.Mock(side_effect=jobs.JobFailed("mpirun: status 1\nno slots\n"))
        found = learner.drive([Cell("bcast", "", 2, 8)])
        self.assertEqual({"no slots"}, set(found.failures))
        self.assertEqual([driver.FAILED], list(found.undecided.values()))


class Report(unittest.TestCase):
    def report_of(self, found, lines, busy=None):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            report.show(found, [rules.parse(text) for text in lines], ["bcast", "scan"], busy)
        return out.getvalue()

    def test_the_report_lists_gains_and_undecided_cells(self):
        cells = [Cell("bcast", "", 2, 8 << k) for k in range(4)] + [Cell("scan", "exact", 2, 8)]
        found = Driver(None, MPI, "", cells)
        found.undecided = {
            cells[2]: driver.OVER,
            cells[3]: driver.OVER,
            cells[4]: "after 320 calls of each",
        }
        found.failures = ["no slots", "no slots"]
        text = self.report_of(
            found,
            [
                "bcast ranks=2 bytes=0-8 -> queue | ns=1000 samples=9 before=inline:3000",
                "bcast ranks=2 bytes=9-16 -> inline | ns=1000 samples=9 mpi_ns=2000",
                "scan ranks=2 bytes=9-16 -> inline | ns=1000 before=chain:1040",
                "scan ranks=2 bytes=17-32 -> inline | ns=1000 before=chain:4000",
            ],
            "other work has 90 % of a processor",
        )
        for words in (
            "Open MPI 4.1.4: 2 of 5 cases decided.",
            "bcast       2      0-8    queue        -      3.00\n",
            "4 cases known; 3 changed: on average 2.3 times as fast as the first choice. ",
            "2 cases undecided, as the time was over: bcast 32-64 (2 ranks)\n",
            "1 case undecided, after 320 calls of each: scan exact 8 (2 ranks)\n",
            "This machine was busy, so choices may be wrong: other work has 90 % of a\n",
        ):
            self.assertIn(words, text)
        self.assertEqual(1, text.count("no slots"))
        self.assertNotIn("9-16", text, "what is not faster has no row")
        self.assertLess(text.index("17-32"), text.index("0-8"), "the largest gain first")
        self.assertLess(len(text.splitlines()), 24)

    def test_all_undecided_cells_are_named(self):
        sizes = [8, 16, 64, 4096, 8192, 16384]
        cells = [Cell("bcast", "", ranks, size) for ranks in (2, 3, 4, 8) for size in sizes]
        cells += [Cell("barrier", "", 2, 0), Cell("scan", "inexact", 2, 8)]
        cells += [Cell(name, "", 2, 8) for name in ("gather", "scatter", "alltoall", "allgather")]
        text = report.undecided_text(dict.fromkeys(cells, "why"))
        output = "30 cases undecided, why: bcast 8-16,64,4K-16K (2-4,8 ranks), barrier (2 ranks),"
        output += " scan inexact 8 (2 ranks), gather 8 (2 ranks), scatter 8 (2 ranks),"
        self.assertEqual([f"{output} alltoall 8 (2 ranks), allgather 8 (2 ranks)"], text)

    def test_the_report_fits_a_screen(self):
        names = [f"reduce_scatter_{n}" for n in range(9)]
        cells = [Cell(name, "inexact", n, 8) for name in names for n in range(2, 999, 7)]
        found = Driver(None, MPI, "", cells)
        whys = [driver.OVER, driver.FAILED, *(driver.TOO_FEW.format(160 << n) for n in range(6))]
        found.undecided = {cell: whys[n % len(whys)] for n, cell in enumerate(cells)}
        found.failures = [f"mpirun could not start {n}: {'no slots ' * 99}" for n in range(9)]
        text = self.report_of(
            found,
            [
                f"reduce_scatter reduction=inexact ranks={n} oversubscribed=yes bytes=129-128K"
                " -> cma_read | ns=1000 mpi_ns=123456 before=mpi:3000"
                for n in range(100, 300, 2)
            ],
            "other work has 90 % of a processor",
        )
        with contextlib.redirect_stdout(io.StringIO()) as more:
            report.print_use("wisdom.rules", False, "on")
        lines = (text + more.getvalue()).splitlines()
        self.assertLessEqual(len(lines), 39, "below a line about the beginning")
        self.assertLessEqual(max(map(len, lines)), 80)
        self.assertIn("and 92 more: huddle wisdom prints all", text)
        self.assertIn("* more ranks than processors", text)
        self.assertIn("... and 8 launches in other ways", text)


class Hosts(unittest.TestCase):
    """Tests of a machine with Open MPI 3, for which huddle has no front end."""

    def chosen(self, *words, front_ends=("openmpi-4.1", "mpich")):
        layout = types.SimpleNamespace(prefix="/none", front_ends=lambda: dict.fromkeys(front_ends))
        options = options_from("huddle tune", command.PARAMETERS, words)
        with (
            mock.patch.object(launching, "check_launcher"),
            mock.patch.object(peers, "find", lambda *_: FOUND),
            mock.patch.object(variants, "program"),
        ):
            return [mpi.name for mpi in command.hosts(options, layout)]

    def test_tune_uses_the_named_mpis_or_the_first_with_a_front_end(self):
        self.assertEqual(["ompi4"], self.chosen())
        self.assertEqual(["mpich4", "ompi4"], self.chosen("--mpi", "mpich4,ompi4"))

    def test_an_mpi_without_front_end_is_one_line(self):
        for words, front_ends, expected in (
            (("--mpi", "ompi3"), ("mpich",), "--mpi ompi3: .* .accepted: mpich4"),
            (("--mpi", "lam"), ("mpich",), "--mpi lam: not found here"),
            ((), (), "tune: huddle has no front end for ompi3, ompi4, mpich4"),
        ):
            with self.subTest(words=words), self.assertRaisesRegex(CliError, expected):
                self.chosen(*words, front_ends=front_ends)

    def test_a_tuning_file_is_for_one_mpi(self):
        options = types.SimpleNamespace(output="x", site=False, force=False)
        with self.assertRaisesRegex(CliError, "accepted: one name of --mpi"):
            command.output_of(options, None, [MPI, MPI])

    def test_the_output_is_checked_before_the_measurement(self):
        options = types.SimpleNamespace(output=None, site=False, force=False)
        layout = types.SimpleNamespace(ask=lambda *_, **__: wisdom_files.answer([], **judged))
        judged = {}
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "huddle", wisdom_files.NAME)
            place = wisdom.Wisdom(path, {}, [])
            with mock.patch.object(wisdom_place, "place", lambda *_: place):
                self.assertIsNone(command.output_of(options, layout, [MPI]))
                self.assertEqual([], os.listdir(os.path.dirname(path)))
                os.symlink("nowhere", path)
                with self.assertRaisesRegex(CliError, "it is a symbolic link"):
                    command.output_of(options, layout, [MPI])
                os.unlink(path)
                with open(path, "w", encoding="utf-8") as file:
                    file.write("#" * (wisdom.LARGEST + 1))
                with self.assertRaisesRegex(CliError, "too large"):
                    command.output_of(options, layout, [MPI])
                os.truncate(path, 0)
                judged["not_written"] = "it is not written"
                with self.assertRaisesRegex(CliError, "^it is not written .huddle wisdom import"):
                    command.output_of(options, layout, [MPI])
                if os.geteuid() == 0:
                    os.chown(path, 12345, 12345)
                    with self.assertRaisesRegex(CliError, "belongs to another user"):
                        command.output_of(options, layout, [MPI])

    def test_a_named_file_is_for_one_mpi(self):
        options = types.SimpleNamespace(output=None, site=False, force=False)
        place = wisdom.Wisdom("./a.rules", {}, [], named=True)
        with mock.patch.object(wisdom_place, "place", lambda *_: place):
            with self.assertRaisesRegex(CliError, "HUDDLE_WISDOM=./a.rules has the choices for"):
                command.output_of(options, None, [MPI, MPI])


class Written(unittest.TestCase):
    def test_results_that_cannot_be_written_are_kept_in_a_temporary_file(self):
        found = wisdom.Wisdom("", {"mpi": "Open MPI 4.1.4"}, [rules.parse("bcast -> queue")])
        with tempfile.TemporaryDirectory() as folder:
            with (
                mock.patch.object(tempfile, "tempdir", folder),
                contextlib.redirect_stderr(io.StringIO()) as output,
            ):
                command.rescue(found, CliError("the disk is full"))
            (name,) = os.listdir(folder)
            path = os.path.join(folder, name)
            self.assertIn(f"the disk is full; what was measured is in {path}", output.getvalue())
            self.assertEqual(["bcast"], [line.name for line in rules.rules_of(path)])

    def test_a_tuning_file_keeps_the_network(self):
        found = wisdom.Wisdom("", {"mpi": "Open MPI 4.1.4"}, [rules.parse("bcast -> queue")])
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "t.rules")
            tuning_file.write(path, tuning_file.text(found))
            tuning_file.check_place(path, force=False)  # its own file is overwritten
            with open(path, "a", encoding="utf-8") as file:
                file.write("# of today\nnetwork alpha_ns=1 beta_ps=1 overhead_ns=1\n")
            tuning_file.write(path, tuning_file.text(found))
            with open(path, encoding="utf-8") as file:
                lines = file.read().split("\n")
        self.assertTrue(lines[0].startswith("# Written by 'huddle tune', 20"))
        self.assertEqual(['machine mpi="Open MPI 4.1.4"', "bcast -> queue"], lines[1:3])
        self.assertIn("network alpha_ns=1 beta_ps=1 overhead_ns=1", lines)


class Alone(unittest.TestCase):
    """Tests of --network, which measures no choices."""

    def refused(self, *words):
        """Returns the message of main() about these options, without measuring."""
        options = options_from("huddle tune", command.PARAMETERS, words)
        layout = types.SimpleNamespace(ask=lambda *_, **__: {"error": ""})
        with mock.patch.object(command.network, "main", lambda *_: "network"):
            try:
                return command.main(options, [], layout)
            except CliError as error:
                self.assertEqual(2, error.status)
                return str(error)

    def test_every_other_option_is_refused(self):
        values = {"--bytes": "8", "--minutes": "1", "--ranks": "2", "--mpi": "x", "--place": "x=/"}
        for option in command.PARAMETERS:
            name = option.opts[0]
            if isinstance(option, Argument):
                name, words = option.shown(), ["bcast"]
            else:
                words = [name, *([] if option.is_flag else [values.get(name, "")])]
            if name in ("--network", "--output", "--site", "--force"):
                continue
            with self.subTest(words=words):
                output = self.refused(*words, "--network", "mpirun")
                self.assertIn(f"tune: {name}: not with --network (accepted: --network ", output)

    def test_options_that_exclude_each_other_are_errors(self):
        self.assertEqual("network", self.refused("--network", "x", "--output", "y", "--force"))
        self.assertEqual("network", self.refused("--network", "x", "--site"))

    def test_new_options_are_refused_with_network(self):
        more = (*command.PARAMETERS, Option("--new"))
        with mock.patch.object(command, "PARAMETERS", more):
            output = self.refused("--network", "x", "--new", "")
        self.assertIn("tune: --new: not with --network", output)


class Words(unittest.TestCase):
    def test_invalid_launcher_commands_are_errors(self):
        self.assertEqual(["mpirun", "-H", "a b"], network.words_of("mpirun -H 'a b'"))
        with self.assertRaisesRegex(
            CliError, "^--network mpirun 'x: No closing quotation .accepted"
        ):
            network.words_of("mpirun 'x")
        with self.assertRaisesRegex(CliError, "^--network '': its first word is not a launcher"):
            network.program(None, "", [])


class Runs(unittest.TestCase):
    """Tests of runs with their own files."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name

    def huddle(self, *words, **environment):
        return run_huddle(BUILD, words, timeout=240, home=self.folder, **environment)

    def tune(self, *words):
        answer = self.huddle("tune", *words)
        if "no MPI found" in answer.stderr or "has no front end" in answer.stderr:
            self.skipTest("no MPI here")
        return answer

    def test_bad_options_are_reported_in_one_line(self):
        nowhere = os.path.join(self.folder, "nowhere")
        for words, expected in (
            (("--ranks", "1"), "--ranks 1"),
            (("--ranks", ""), "--ranks ''"),
            (("rotate",), "scan"),
            (("",), "tune '': not a collective"),
            (("--minutes", "0"), "--minutes 0"),
            (("--minutes", "nan"), "--minutes nan"),
            (("--bytes", "9"), "--bytes"),
            (("--bytes", "x"), "--bytes x: "),
            (("--mpi", "lam"), "--mpi lam"),
            (("--place", "x"), "--place x"),
            (("--network", "mpirun 'x"), "No closing quotation"),
            (("--output", self.folder), "cannot be written"),
            (("--output", ""), "--output"),
            (("--output", "/proc/x"), "/proc/x cannot be written"),
            (("--output", "/dev/null"), "not a regular file"),
            (("--output", os.path.join(nowhere, "t.rules")), f"no such directory: {nowhere}"),
        ):
            with self.subTest(words=words):
                answer = self.tune(*words)
                self.assertIn(answer.returncode, (1, 2))
                self.assertEqual("", answer.stdout, "nothing was measured")
                self.assertRegex(answer.stderr, r"^huddle: [^\n]*\n$")
                self.assertIn(expected, answer.stderr)
        self.assertFalse(os.path.exists(nowhere))

    def test_wisdom_and_explain_know_the_results(self):
        words = ("allreduce", "--bytes", "1K:4K", "--ranks", "2")
        begin = time.monotonic()
        answer = self.tune(*words, "--minutes", "0.5")
        self.assertLess(time.monotonic() - begin, 30 + GENEROUS_S)
        self.assertEqual(0, answer.returncode, answer.stderr + answer.stdout)
        self.assertRegex(answer.stdout, r"6 cases; at most 0.5 minutes\.")
        decided = int(answer.stdout.partition(" of 6 cases decided")[0].split()[-1])
        self.assertGreater(decided, 0)
        self.assertNotIn("A launch failed", answer.stdout, "wrong bytes would be one")
        known = json.loads(self.huddle("wisdom", "--json").stdout)
        self.assertEqual(1, len(known))
        self.assertIn(f"Written: {known[0]['file']}", answer.stdout)
        self.assertEqual(
            decided, sum(1 for cell in known[0]["cases"] if cell["name"] == "allreduce")
        )
        output = self.huddle(
            "explain", "allreduce", "--bytes", "4K", "--ranks", "2", HUDDLE_WISDOM="on"
        ).stdout
        self.assertRegex(output, "  (because  learned|known   ) here on ")

    def test_a_tuning_file(self):
        path = os.path.join(self.folder, "node.rules")
        with open(path, "w", encoding="utf-8") as file:
            file.write("# mine\n")
        words = ("barrier", "--ranks", "2", "--minutes", "0.2", "--output", path)
        answer = self.tune(*words)
        self.assertEqual((2, ""), (answer.returncode, answer.stdout))
        self.assertRegex(answer.stderr, r"^huddle: [^\n]*not written by 'huddle tune'[^\n]*\n$")
        answer = self.tune(*words, "--force")
        self.assertEqual(0, answer.returncode, answer.stderr + answer.stdout)
        self.assertIn(f"Use it: HUDDLE_TUNING={path}", answer.stdout)
        found = json.loads(
            self.huddle("explain", "barrier", "--ranks", "2", "--json", HUDDLE_TUNING=path).stdout
        )
        self.assertIsNone(found["error"])
        self.assertEqual("tuning file", found["why"]["by"])
        self.assertEqual([], json.loads(self.huddle("wisdom", "--json").stdout))

    def test_an_interrupt_keeps_the_decided_choices(self):
        clean = {k: v for k, v in os.environ.items() if not k.startswith("HUDDLE")}
        words = [os.path.join(BUILD, "bin", "huddle"), "tune", "--ranks", "2", "--minutes", "5"]
        process = subprocess.Popen(
            words,
            env={**clean, "XDG_CACHE_HOME": self.folder, "XDG_CONFIG_HOME": self.folder},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        line = process.stdout.readline()
        if not line:
            self.skipTest("no MPI here")
        time.sleep(3)
        process.send_signal(2)
        out, errors = process.communicate(timeout=60)
        self.assertEqual(130, process.returncode)
        self.assertIn("stopped; what is decided is kept", errors)
        self.assertRegex(out, r"\d+ of \d+ cases decided")
