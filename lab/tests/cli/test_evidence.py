# SPDX-License-Identifier: BSD-3-Clause
"""
Tests the series of lab/evidence: their commands reproduce the files, and files, heads and the index
agree.
"""

import functools
import importlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import xml.dom.minidom

from paths import BUILD, SOURCE

from cli.common import rules

SOURCE = pathlib.Path(SOURCE)
BUILD = pathlib.Path(BUILD)
FOLDER = SOURCE / "lab" / "evidence"
TOOL = FOLDER / "series.py"
VENV = BUILD / "venv" / "bin" / "python"
NEAR = 1.25  # maximum ratio of a command's times to the data
PYTHON = str(VENV) if VENV.exists() else sys.executable


sys.path.insert(0, str(FOLDER))
series, ranges, regret, peers, compared = map(
    importlib.import_module, ("series", "ranges", "regret", "peers", "compared")
)
regret.Library.huddle = str(BUILD / "bin" / "huddle")
ALL = series.load()
OTHERS = {"E68"}  # series without candidates, which comments of the sources name


def can_draw():
    asked = [PYTHON, "-c", "import matplotlib"]
    return subprocess.run(asked, stderr=subprocess.DEVNULL, check=False).returncode == 0


class Made(unittest.TestCase):
    """Tests of a command of a series, at a reduced size."""

    def make(self, number):
        words = ["--reduced", "--huddle", str(BUILD / "bin" / "huddle")]
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [PYTHON, "-B", str(TOOL), number, *words, "--folder", folder],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                timeout=300,
                check=False,
            )
            self.assertEqual((0, f"{number}.csv\n"), (done.returncode, done.stdout), done.stderr)
            head, rows = series.read(number, pathlib.Path(folder))
        self.assertIn(number, head[0])
        self.assertEqual([series.COLUMNS] * len(rows), [list(row) for row in rows])
        return rows

    @staticmethod
    def key(row):
        return tuple(value for name, value in row.items() if name != "us")

    @unittest.skipUnless(
        (BUILD / "libexec" / "huddle" / "simulate").exists(), "built without the simulator"
    )
    def test_simulated_series_can_be_reproduced(self):
        rows = self.make("E14")
        self.assertEqual(
            [("gather", "simulated"), ("slices", "simulated")] * 2,
            [(row["algorithm"], row["kind"]) for row in rows],
        )
        there = {self.key(row): float(row["us"]) for row in series.read("E14")[1]}
        for row in rows:  # equal on every machine; a change of an algorithm changes them a little
            ratio = float(row["us"]) / there[self.key(row)]
            self.assertTrue(
                1 / NEAR < ratio < NEAR, f"{row}: {ratio:.2f} of the data's; make it again"
            )

    @unittest.skipUnless(
        (BUILD / "libexec" / "huddle" / "simulate").exists(), "built without the simulator"
    )
    def test_range(self):
        (row,) = [
            row
            for row in ranges.read()[1]
            if (row["collective"], row["machine"], row["ranks"], row["bytes"], row["algorithm"])
            == ("reduce_scatter", "xeon-8358", "32", "128", "exchange")
            and (row["gap"], row["serve"]) == ("1/3", "3")
        ]
        with tempfile.TemporaryDirectory() as folder:
            ranges.describe(folder, row["machine"], row["gap"], row["serve"])
            again = {**row, "us": ""}
            ranges.simulate(str(BUILD / "bin" / "huddle"), folder, [again])
        ratio = float(again["us"]) / float(row["us"])
        self.assertTrue(1 / NEAR < ratio < NEAR, f"{row}: {ratio:.2f} of the data's; make it again")

    @unittest.skipUnless(
        shutil.which("mpirun.openmpi") and (BUILD / "libexec/huddle/bench-openmpi").exists(),
        "no Open MPI here: huddle bench cannot measure",
    )
    def test_measured_series_can_be_repeated(self):
        rows = self.make("E10")
        self.assertEqual(["whole", "slices"], [row["algorithm"] for row in rows])
        for row in rows:
            self.assertEqual(
                ("allreduce", "2", "512"), tuple(map(row.get, ("collective", "ranks", "bytes")))
            )
            self.assertGreater(float(row["us"]), 0)


class There(unittest.TestCase):
    """Tests of the files of the tree."""

    def test_every_series_has_data(self):
        files = {path.stem for path in FOLDER.glob("E[0-9]*.csv")}
        self.assertEqual(set(ALL), files)
        for number, about in ALL.items():
            with self.subTest(number=number):
                head, rows = series.read(number)
                self.assertEqual(series.head_of(number, about), "\n".join(head) + "\n")
                self.assertTrue(rows)
                self.assertEqual({about["kind"]}, {row["kind"] for row in rows})
                for row in rows:
                    self.assertEqual(series.COLUMNS, list(row))
                    series.number_of(row["bytes"])
                    series.span(row["us"])

    @unittest.skipUnless(can_draw(), "no matplotlib here: plots cannot be drawn")
    def test_a_series_can_be_drawn(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(FOLDER / "E14.csv", folder)
            words = ["E14", "--plots", "--folder", folder]
            subprocess.run([PYTHON, "-B", str(TOOL), *words], check=True, timeout=300)
            plot = xml.dom.minidom.parse(os.path.join(folder, "E14.svg"))
        self.assertEqual("svg", plot.documentElement.tagName)

    @unittest.skipUnless(can_draw(), "no matplotlib here: plots cannot be drawn")
    def test_the_comparison_with_other_mpis_can_be_drawn(self):
        with tempfile.TemporaryDirectory() as folder:
            code = "import sys, pathlib, peers; peers.draw(*map(pathlib.Path, sys.argv[1:]))"
            words = ["-B", "-c", code, FOLDER / "peers-16-cores.csv", f"{folder}/peers.svg"]
            subprocess.run([PYTHON, *words], check=True, timeout=300, cwd=FOLDER)
            plot = pathlib.Path(folder, "peers.svg").read_text(encoding="utf-8")
        for words in ("allreduce", "scatterv", "16 ranks", "16 cores: single calls"):
            self.assertIn(f">{words}", plot)

    def test_simulated_series_were_made_by_their_commands(self):
        for number, about in ALL.items():
            if about["kind"] == "simulated":
                self.assertIn(f"Simulated by: {series.PYTHON} {number}", series.read(number)[0][1])

    def test_every_row_of_the_ranges_has_a_time(self):
        for row in ranges.read()[1]:
            self.assertEqual(ranges.COLUMNS, list(row))
            self.assertGreater(float(row["us"]), 0, row)

    def test_the_index_is_current(self):
        page = (FOLDER.parent / "docs" / "evidence.md").read_text(encoding="utf-8")
        self.assertTrue(page.endswith(series.index_text(ALL)), f"{TOOL} --heads writes it")

    def test_commands_of_series_have_no_placeholders(self):
        for number, about in ALL.items():
            for command in series.commands_of(about):
                with self.subTest(number=number):
                    self.assertRegex(
                        command, r"^(taskset -c [0-9,]+ )?huddle (lab simulate|bench) \w+ "
                    )
                    self.assertNotRegex(command, r"[{}:]|NAME|SIZES")


@functools.cache
def places():
    return regret.places()


class Table(unittest.TestCase):
    """Tests of the built-in table's regret."""

    MEAN, WORST = 1.06, 11  # maximum over all places; WORST has a simulated gather of 64 ranks

    def test_choices_are_near_the_fastest_candidates(self):
        found, known = regret.summary([regret.read(regret.TABLE)], places())
        self.assertGreater(known, 0.85 * len(places()))
        for name, [(average, worst, where, _)] in found.items():
            with self.subTest(name=name):
                self.assertLess(average, self.MEAN if name == "all" else 1.15)
                self.assertLess(worst, self.WORST, where)

    def test_a_worse_table_has_more_regret(self):
        lines = map(rules.parse, ("bcast -> levels", "bcast -> queue"))
        worse, better = ([regret.Rule(line)] for line in lines)
        some = [place for place in places() if place.about[5] == "bcast"]
        found, _ = regret.summary([worse, better], some)
        self.assertGreater(found["all"][0][0], found["all"][1][0])

    def test_rules_cite_the_series_that_measured_them(self):
        text = regret.TABLE.read_text(encoding="utf-8")
        self.assertEqual(text, regret.cite(regret.TABLE, places()), f"{regret.__file__} --cite")

    def test_every_series_measures_a_choice(self):
        self.assertEqual(set(ALL) - OTHERS, {place.about[0] for place in places()} - {"range"})


class Regret(unittest.TestCase):
    """Tests of regrets with a made-up series."""

    def places(self, *lines, machine="m", regime="bound"):
        """Returns the places of lines (collective, ranks, bytes, algorithm, us)."""
        data = [
            dict(zip(series.COLUMNS, (*line[:2], regime, *line[2:], "40", "measured", machine)))
            for line in lines
        ]
        with unittest.mock.patch.object(regret, "rows", lambda: [("E0", row) for row in data]):
            return regret.places()

    @staticmethod
    def rule(text):
        return regret.Rule(rules.parse(text))

    def test_a_regret_is_the_ratio_to_the_fastest(self):
        (place,) = self.places(
            *(
                ("reduce", "2", "1K", name, us)
                for name, us in (("tree degree=2", "3"), ("gather", "1"))
            )
        )
        self.assertAlmostEqual(3, regret.regret_of([self.rule("reduce -> tree degree=2")], place))
        self.assertIsNone(regret.regret_of([self.rule("reduce -> slices")], place))

    def test_several_times_of_an_algorithm_are_averaged(self):
        lines = [("reduce", "2", "1K", "tree", us) for us in ("2", "8")]
        (place,) = self.places(*lines, ("reduce", "2", "1K", "gather", "2"))
        self.assertAlmostEqual(2, place.regret("tree"))

    def test_the_first_rule_that_matches_serves(self):
        (place,) = self.places(
            *(("reduce", "4", "1K", name, us) for name, us in (("tree", "3"), ("gather", "1")))
        )
        table = [
            self.rule(f"reduce {conditions} -> {name}")
            for conditions, name in (
                ("ranks=2-3", "tree"),
                ("bytes=0-512", "tree"),
                ("oversubscribed=yes", "tree"),
                ("divided=yes", "tree"),
                ("ranks=3- bytes=1K-8K", "gather"),
                ("", "tree"),
            )
        ]
        self.assertEqual("gather", regret.choice(table, place).algorithm)

    def test_choices_without_kernel_copies_are_judged_separately(self):
        first, second = self.places(
            *(
                ("scatter", "4", "1M", name, us)
                for name, us in (("cma_read", "1"), ("windows", "2"), ("windows tile=8K", "4"))
            )
        )
        by_kernel = self.rule("scatter quick=yes -> cma_read")
        other = self.rule("scatter -> windows tile=8K cma=8K")
        self.assertEqual(1, regret.regret_of([by_kernel, other], first))
        self.assertEqual(2, regret.regret_of([by_kernel, other], second))

    def test_baselines_are_no_candidates(self):
        self.assertIsNone(regret.canonical("barrier", "mcs"))
        self.assertIsNone(regret.canonical("bcast", "queue huddle_prefetch=2K"))
        self.assertEqual(
            "queue budget=1M degree=8", regret.canonical("bcast", "queue degree=8 budget=1M")
        )

    def test_levels_divide_ranks(self):
        for machine, ranks, divided in (
            ("epyc-9654", 8, False),
            ("epyc-9654", 9, True),
            ("xeon-8358", 32, False),
            ("xeon-8358", 33, True),
            ("kunpeng-920", 4, False),
            ("kunpeng-920", 5, True),
        ):
            with self.subTest(machine=machine, ranks=ranks):
                self.assertEqual(divided, regret.is_divided(machine, ranks, "bound"))
        self.assertTrue(regret.is_divided("xeon-8358", 2, series.MAPS["socket"]))


class Peers(unittest.TestCase):
    """Tests of the tables of `huddle bench --summary`."""

    @staticmethod
    def case(**more):
        setting = {
            "ranks": 2,
            "bind": "core",
            "root": "shift",
            "loop": 0,
            **more.pop("setting", {}),
        }
        return {
            **{"setting": setting, "line": "near", "collective": "bcast", "bytes": 8},
            **{"host": "mpich5", "huddle_ns": 1100.0, "peer": "ompi5", "peer_ns": 1600.0},
            **{"ratio": 0.6875, "own": {"ompi4": 0.5, "mpich5": 1.25}, "launches": 4, **more},
        }

    def test_single_calls_without_a_ratio_are_left_out(self):
        cases = [self.case(), self.case(ratio=None), self.case(setting={"loop": 100})]
        self.assertEqual(
            [[2, "core", "shift", "near", "bcast", 8, "1.1", "mpich5", "1.6", ".688", "ompi5", 4]],
            list(peers.single_calls(cases)),
        )

    def test_back_to_back_calls_are_compared_per_mpi(self):
        cases = [self.case(), self.case(setting={"loop": 100, "root": "0"}, ratio=None)]
        self.assertEqual(
            [
                ["ompi4", 2, "core", "0", "near", "bcast", 8, ".5", 4],
                ["mpich5", 2, "core", "0", "near", "bcast", 8, "1.25", 4],
            ],
            list(peers.loops(cases)),
        )

    def test_versions_name_each_mpi_that_ran_huddle(self):
        samples = [{"variant": "huddle", "mpi": mpi} for mpi in ("Open MPI  v4", "MPICH 5")]
        self.assertEqual("huddle: MPICH 5 and Open MPI v4", peers.versions(samples))

    def test_another_machine_has_its_own_file(self):
        machine = peers.Machine("A processor, quick,16")
        self.assertEqual(("A processor, quick", 16), (machine.name, machine.cores))
        self.assertEqual("peers-16-cores.csv", machine.file("peers.csv").name)
        self.assertEqual("peers.csv", peers.Machine("x,4").file("peers.csv").name)

    def test_figures_of_earlier_runs_are_summarised(self):
        """Checks the command itself, whose columns these are."""
        columns = "variant,host,ranks,bind,root,loop,launch,collective,bytes,shots,late,refused"
        columns += ",wrong,mpi," + ",".join(
            f"{n}_ns" for n in "line_before line_after median p99 min mean max cpu".split()
        )
        same = "2,core,shift,0,1,bcast,8,20,0,0,0,an MPI,60,60"
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            rows = [
                f"{who},{same},{','.join([us] * 6)}"
                for who, us in (("huddle,ompi4", "500"), ("ompi4,", "1000"))
            ]
            (folder / "f.csv").write_text("\n".join([columns, *rows]), encoding="utf-8")
            cases, samples = peers.summary_of(
                str(BUILD / "bin" / "huddle"), [folder / "f.csv"], folder
            )
        self.assertEqual(2, len(samples))
        self.assertEqual([".5"], [row[9] for row in peers.single_calls(cases)])


class Compared(unittest.TestCase):
    """Tests of the page of all comparisons with other MPIs."""

    CASES = [
        {"collective": "bcast", "bytes": size, "ratio": ratio, "peer": "intel", "bind": bind}
        for size, ratio, bind in (("8", ".5", "core"), ("2048", "2", "core"), ("8", ".7", "none"))
    ]

    def test_page_matches_the_data(self):
        self.assertEqual(compared.PAGE.read_text(encoding="utf-8"), compared.page())
        self.assertIn("**", compared.page())  # at least one aim is missed

    def test_a_mean_is_geometric_and_the_slowest_case_is_named(self):
        self.assertEqual(
            ["| `bcast` | 2 | 1 | **1.00x faster** | 2 KB: 2.00x slower than intel |"],
            list(compared.of_group(self.CASES[:2])),
        )

    def test_oversubscribed_ranks_have_their_own_target(self):
        for case, text in (
            (self.CASES[2], "**1.43x faster**"),
            ({**self.CASES[2], "bind": "core"}, "1.43x faster"),
        ):
            self.assertIn(f" {text} |", next(compared.of_group([case])))
