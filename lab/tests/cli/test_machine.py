# SPDX-License-Identifier: BSD-3-Clause
"""
Tests huddle lab machine: the file from made-up measurements, and a short real run whose file
huddle lab simulate reads.
"""

import contextlib
import io
import os
import re
import tempfile
import types
import unittest

from harness import IN_BUILD, run_huddle
from paths import BUILD

from cli.common import output_files, stability
from cli.common.layout import CliError, Layout
from cli.common.machines import tomllib
from lab.cli.machine import agreement
from lab.cli.machine import command as describe

MEASURED = {
    "name": 'A "machine"',
    "cores": 4,
    "topology": "pack:1 core:4 pu:1",
    "xml": None,
    "shared_level": "numa",
    "numbers": [
        {"table": "lines", "key": "transfer_ns.numa", "value": 61.594, "note": "measured: somehow"},
        {"table": "caches", "key": "private_bytes", "value": 2097152.0, "note": "hwloc's"},
    ],
    "words": [{"table": "caches", "key": "shared_fill", "value": "read", "note": "measured: so"}],
}


def huddle(home, *words):
    return run_huddle(BUILD, words, timeout=250, home=home)


class File(unittest.TestCase):
    def test_the_text_has_all_tables(self):
        lines = describe.text_of(MEASURED, MEASURED["topology"], "2026-01-02").split("\n")
        for line in (
            "# Written by 'huddle lab machine'.",
            'name = "A \\"machine\\""',
            'source = "measured by huddle lab machine on 2026-01-02, 4 cores"',
            'topology = "pack:1 core:4 pu:1"',
            "[lines]",
            "transfer_ns.numa = 61.59        # measured: somehow",
            "private_bytes = 2097152         # hwloc's",
            'shared_fill = "read"            # measured: so',
            "[links]",
            "[reduce]",
        ):
            self.assertIn(line, lines)
        self.assertNotIn("doubt", "".join(lines))
        self.assertTrue(any(line.startswith('shared_level = "numa" ') for line in lines))


def numbers(note="measured: somehow", **values):
    """
    Returns numbers; lines__hit_ns=1.5 is the key hit_ns of table lines, and a second __ is the dot
    of a class.
    """
    found = []
    for name, value in values.items():
        table, _, key = name.partition("__")
        found.append({"table": table, "key": key.replace("__", "."), "value": value, "note": note})
    return found


class Steady(unittest.TestCase):
    def test_runs_agree_within_15_per_cent(self):
        for other, agree in ((11.4, True), (11.6, False)):
            runs = [numbers(copy__kernel_gbps=value) for value in (10, other)]
            self.assertEqual(agree, not agreement.joined(runs)[1])

    def test_outliers_are_ignored(self):
        runs = [
            numbers(lines__transfer_ns__numa=ns, copy__kernel_gbps=gbps)
            for ns, gbps in ((60, 9), (400, 2), (62, 9.2))
        ]
        joined, unsteady = agreement.joined(runs)
        self.assertEqual(([61, 9.1], {}), ([number["value"] for number in joined], unsteady))

    def test_numbers_that_disagree_are_named_and_marked(self):
        runs = [numbers(lines__hit_ns=1.5, copy__kernel_gbps=gbps) for gbps in (9, 2, 5)]
        joined, unsteady = agreement.joined(runs)
        self.assertEqual({"copy.kernel_gbps": (2, 9)}, unsteady)
        self.assertEqual(
            ["measured: somehow", "measured: somehow; not steady: 2 to 9 in 3 runs"],
            [number["note"] for number in joined],
        )
        self.assertEqual("copy.kernel_gbps 2 to 9", agreement.words(unsteady, []))

    def test_small_absolute_differences_are_ignored(self):
        self.assertEqual(
            {},
            agreement.joined(
                [numbers(lines__revoke_ns__numa=ns, lines__post_ns=ns / 10) for ns in (1, 9)]
            )[1],
        )

    def test_assumed_numbers_are_kept(self):
        joined, unsteady = agreement.joined(
            [
                numbers(note, lines__home_ns__numa=ns)
                for note, ns in (("assumed: nothing", 0), ("measured: at last", 50))
            ]
        )
        self.assertEqual(
            ("assumed: nothing", 0, {}), (joined[0]["note"], joined[0]["value"], unsteady)
        )

    def test_words_that_disagree_are_named(self):
        def run(word):
            return [{"table": "caches", "key": "shared_fill", "value": word, "note": ""}]

        self.assertEqual([], agreement.disagreeing([run("read"), run("read"), []]))
        self.assertEqual(
            ["caches.shared_fill read or victim"],
            agreement.disagreeing([run("victim"), run("read")]),
        )

    def test_numbers_of_a_single_run_are_left_out(self):
        once = numbers(lines__home_busy_ns=60, lines__hit_ns=1.5)
        self.assertEqual(once, agreement.joined([once])[0])
        self.assertEqual(
            (["hit_ns"], {}),
            (
                [number["key"] for number in agreement.joined([once, once[1:], once[1:]])[0]],
                agreement.joined([once, once[1:], once[1:]])[1],
            ),
        )

    def test_later_runs_add_numbers_that_the_first_lacks(self):
        lacks = numbers(lines__hit_ns=1.5, lines__transfer_ns__machine=120)
        other = numbers(
            lines__hit_ns=1.5, lines__transfer_ns__l3=60, lines__transfer_ns__machine=120
        )
        joined, unsteady = agreement.joined([lacks, other, other])
        self.assertEqual((other, {}), (joined, unsteady), "and near is before far")
        self.assertEqual([], agreement.impossible(joined))
        self.assertEqual(lacks, agreement.joined([lacks, other])[0], "only one has it")

    def test_later_runs_replace_an_assumption_if_they_agree(self):
        assumed = numbers("assumed: nothing", lines__home_ns__numa=0)
        runs = [numbers(lines__home_ns__numa=ns) for ns in (50, 52)]
        joined, unsteady = agreement.joined([assumed, *runs])
        self.assertEqual(([51], {}), ([number["value"] for number in joined], unsteady))
        for order in ([assumed, runs[0]], [runs[0], assumed]):
            self.assertEqual(assumed, agreement.joined(order)[0], "one run does not tell")

    def test_missing_values_have_a_reason(self):
        def why(**notes):
            return [{"table": "lines", "key": key, "note": note} for key, note in notes.items()]

        runs = [why(hit_ns="busy", post_ns="busy"), why(home_ns="too few cores")]
        self.assertEqual(
            why(post_ns="busy", home_ns="too few cores"),
            agreement.missing(runs, numbers(lines__hit_ns=1.5)),
        )

    def test_impossible_numbers_are_reported(self):
        good = {
            "lines__hit_ns": 1.5,
            "lines__transfer_ns__l3": 40,
            "lines__transfer_ns__machine": 120,
            "copy__nearest_gbps__own": 60,
            "copy__cached_gbps__own": 30,
            "copy__cached_gbps__machine": 8,
            "copy__memory_gbps__local": 10,
            "copy__shared_gbps": 20,
            "copy__kernel_gbps": 9,
            "memory__node_gbps": 40,
        }
        self.assertEqual([], agreement.impossible(numbers(**good)))
        for name, value, expected in (
            (
                "lines__transfer_ns__l3",
                200,
                "lines.transfer_ns.machine 120, but lines.transfer_ns.l3 200",
            ),
            ("lines__hit_ns", 70, "lines.transfer_ns.l3 40, but lines.hit_ns 70"),
            (
                "copy__cached_gbps__machine",
                90,
                "copy.cached_gbps.machine 90, but copy.nearest_gbps.own 60",
            ),
            ("copy__kernel_gbps", 90, "copy.kernel_gbps 90, but copy.nearest_gbps.own 60"),
            ("memory__node_gbps", 5, "copy.memory_gbps.local 10, but memory.node_gbps 5"),
        ):
            with self.subTest(name):
                self.assertEqual([expected], agreement.impossible(numbers(**{**good, name: value})))

    def test_forced_descriptions_are_marked(self):
        once, others = describe.measure_once, stability.others
        describe.measure_once, stability.others = (
            lambda _: {
                **MEASURED,
                "numbers": numbers(copy__kernel_gbps=next(values)),
                "unmeasured": [{"table": "copy", "key": "k", "note": "too few cores"}],
            },
            lambda: None,
        )
        try:
            with (
                tempfile.TemporaryDirectory() as folder,
                contextlib.redirect_stdout(io.StringIO()),
                contextlib.redirect_stderr(io.StringIO()),
            ):
                options = types.SimpleNamespace(file=os.path.join(folder, "m.toml"), force=True)
                values = iter((1, 2, 4, 8, 16))
                self.assertEqual(
                    0,
                    describe.main(
                        options, [], types.SimpleNamespace(tools="/none", question=lambda *_: {})
                    ),
                )
                with open(options.file, encoding="utf-8") as file:
                    lines = file.read().split("\n")
        finally:
            describe.measure_once, stability.others = once, others
        self.assertTrue(lines[2].startswith("# NOT RELIABLE: copy.kernel_gbps 1 to 16"), lines)
        self.assertTrue(lines[3].startswith('doubt = "copy.kernel_gbps 1 to 16'), lines)
        self.assertIn("# k: not measured: too few cores", lines[lines.index("[copy]") :])

    def test_figures_that_do_not_agree_are_refused(self):
        class Layout:
            tools = "/none"
            question = staticmethod(lambda *_: {})

        once, others = describe.measure_once, stability.others
        describe.measure_once = lambda _: {
            **MEASURED,
            "numbers": numbers(copy__kernel_gbps=next(values)),
        }
        try:
            stability.others = lambda: None
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "m.toml")
                options = types.SimpleNamespace(file=path, force=False)
                values = iter((1, 2, 4, 8, 16))
                with self.assertRaisesRegex(
                    CliError, "copy.kernel_gbps 1 to 16; nothing was written"
                ):
                    describe.main(options, [], Layout)
                self.assertEqual([], os.listdir(folder))
                values = iter((1, 1, 1, 1, 1))
                stability.others = lambda: "other work has 97 % of a processor"
                with self.assertRaisesRegex(
                    CliError, "figures are not reliable: other work has 97 % of a processor; "
                ):
                    describe.main(options, [], Layout)
                stability.others, values = lambda: None, iter((1, 9, 8))
                with contextlib.redirect_stdout(io.StringIO()):
                    self.assertEqual(0, describe.main(options, [], Layout))
                with open(path, encoding="utf-8") as file:
                    self.assertIn("kernel_gbps = 8.5", file.read())
        finally:
            describe.measure_once, stability.others = once, others


@unittest.skipIf(tomllib is None, "no tomllib here")
@unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "one processor")
class Real(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.home = self.folder.name

    def tearDown(self):
        self.folder.cleanup()

    def test_measured_machines_can_be_simulated(self):
        answer = huddle(self.home, "lab", "machine", "--force")
        self.assertEqual(0, answer.returncode, answer.stderr)
        self.assertRegex(
            answer.stderr, r"^(huddle: machine: the figures are not reliable: [^\n]*\n)?$"
        )
        path = os.path.join(self.home, "huddle", "machine.toml")
        self.assertIn(f"Written: {path}", answer.stdout)
        with open(path, "rb") as file:
            machine = tomllib.load(file)
        self.assertLess(machine["lines"]["hit_ns"], machine["lines"]["transfer_ns"]["machine"])
        self.assertEqual({"enter_ns", "data_ns", "reduce_ns", "clock_ns"}, set(machine["call"]))
        self.assertGreater(machine["call"]["clock_ns"], 0)
        self.assertGreater(machine["lines"]["fetch_add_ns"]["machine"], 0)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for key in ("home_busy_ns", "share", "streams_gbps", "shared_fill", "dirty_share"):
            self.assertRegex(text, rf"(?m)^{key}(\.\d+)? = |^# {key}: not measured: \w")
        simulated = huddle(self.home, "lab", "simulate", "barrier", "--ranks", "2")
        self.assertEqual((0, ""), (simulated.returncode, simulated.stderr))
        self.assertIn(f"on {machine['name']}", simulated.stdout)
        compared = huddle(
            self.home,
            "lab",
            "simulate",
            "bcast",
            "--ranks",
            "2",
            "--bytes",
            "8,64K",
            "--algorithm",
            "queue,slots",
            "--measure",
        )
        self.assertEqual((0, ""), (compared.returncode, compared.stderr))
        for line in (
            (
                r"Simulated and measured bcast, 2 ranks .*; line transfer: simulated machine [\d.]+"
                r" ns, measured "
            ),
            r"8 B +queue +\S+ ns +",
            r"64 KB +slots ",
        ):
            self.assertRegex(compared.stdout, line)
        self.assertRegex(
            compared.stdout, r"ranks enter a call within ([1-9]|[1-9]\d{1,2}) ns of each other"
        )
        output_files.check_own(path, describe.MACHINE, False, "")  # its own file is overwritten
        self.refuses_what_a_simulation_would(path)

    def refuses_what_a_simulation_would(self, path):
        layout = Layout(BUILD, **IN_BUILD)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        describe.check_read(layout, {path: text})
        with self.assertRaisesRegex(
            CliError,
            "^machine: what was measured: lines.hit_ns: 0 .accepted: 0.001 to 1000000000 ns.;"
            " nothing was written$",
        ):
            describe.check_read(layout, {path: re.sub("(?m)^hit_ns = [^ ]*", "hit_ns = 0", text)})

    def test_complaints(self):
        mine = os.path.join(self.home, "mine.toml")
        with open(mine, "w", encoding="utf-8") as file:
            file.write("name = 1\n")
        usual = os.path.join(self.home, "huddle", "machine.toml")
        for name in ("x.txt", "kunpeng-920", ""):
            begin = os.listdir(self.home)
            answer = huddle(self.home, "lab", "machine", name)
            self.assertEqual(
                (
                    2,
                    f"huddle: machine: {name or repr('')}: not a file name that huddle lab simulate"
                    f" reads (accepted: a file NAME.toml; without a name {usual})\n",
                ),
                (answer.returncode, answer.stderr),
            )
            self.assertEqual(begin, os.listdir(self.home))
        for path, complaint in (
            (
                "/none/x.toml",
                "cannot be written: there is no such directory: /none (another place: FILE.toml)",
            ),
            (
                mine,
                "was not written by 'huddle lab machine'; it is not overwritten (accepted: --force;"
                " another place: FILE.toml)",
            ),
        ):
            answer = huddle(self.home, "lab", "machine", path)
            self.assertNotEqual(0, answer.returncode)
            self.assertEqual(f"huddle: {path} {complaint}\n", answer.stderr)
