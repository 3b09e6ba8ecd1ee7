# SPDX-License-Identifier: BSD-3-Clause
"""
The series of docs/evidence: their commands make what the files hold, and files, plots, heads and
the index agree.  test_evidence.py SOURCE BUILD.
"""

import importlib
import itertools
import pathlib
import shutil
import subprocess
import sys
import tempfile
import tomllib
import unittest
import unittest.mock
import xml.dom.minidom

SOURCE, BUILD = (pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(2))
FOLDER = SOURCE / "docs" / "evidence"
TOOL = FOLDER / "series.py"
VENV = BUILD / "venv" / "bin" / "python"
MEASURED_RANKS = {False: 4, True: 16}  # divided or not known, and not divided
NEAR = 1.25  # times what the data has, at most, that its command gives
PYTHON = str(VENV) if VENV.exists() else sys.executable


sys.path.insert(0, str(FOLDER))
series, table, simulated, measured, rows, peers, compared = map(
    importlib.import_module,
    ("series", "table", "simulated", "measured", "rows", "peers", "compared"),
)
ALL = series.load()
SOURCE_OF_ROWS = measured.Source(measured.algorithms(str(BUILD / "bin" / "huddle")), ALL)


def can_draw():
    asked = [PYTHON, "-c", "import matplotlib"]
    return subprocess.run(asked, stderr=subprocess.DEVNULL, check=False).returncode == 0


class Made(unittest.TestCase):
    """A command of a series, at a reduced size."""

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
            plot = (pathlib.Path(folder) / f"{number}.svg").read_text(encoding="utf-8")
        self.assertIn(number, head[0])
        self.assertEqual("svg", xml.dom.minidom.parseString(plot).documentElement.tagName)
        self.assertEqual([series.COLUMNS] * len(rows), [list(row) for row in rows])
        return rows

    @staticmethod
    def key(row):
        return tuple(value for name, value in row.items() if name != "us")

    @unittest.skipUnless(can_draw(), "no matplotlib here: plots cannot be drawn")
    @unittest.skipUnless(
        (BUILD / "libexec" / "huddle" / "simulate").exists(), "built without the simulator"
    )
    def test_simulated(self):
        rows = self.make("E14")
        self.assertEqual(
            [("gather", "simulated"), ("slices", "simulated")] * 2,
            [(row["algorithm"], row["kind"]) for row in rows],
        )
        there = {self.key(row): float(row["us"]) for row in series.read("E14")[1]}
        for (
            row
        ) in rows:  # the same on every machine; a change of an algorithm changes them a little
            ratio = float(row["us"]) / there[self.key(row)]
            self.assertTrue(
                1 / NEAR < ratio < NEAR, f"{row}: {ratio:.2f} of the data's; make it again"
            )

    @unittest.skipUnless(can_draw(), "no matplotlib here: plots cannot be drawn")
    @unittest.skipUnless(
        shutil.which("mpirun.openmpi") and (BUILD / "libexec/huddle/bench-openmpi").exists(),
        "no Open MPI here: huddle bench cannot measure",
    )
    def test_measured(self):
        rows = self.make("E3")
        self.assertEqual(["queue budget=64K", "queue"], [row["algorithm"] for row in rows])
        for row in rows:
            self.assertEqual(
                ("bcast", "2", "1K"), tuple(map(row.get, ("collective", "ranks", "bytes")))
            )
            self.assertGreater(float(row["us"]), 0)


class There(unittest.TestCase):
    """What the tree holds."""

    def test_every_series_has_data_and_a_plot(self):
        files = {path.stem for path in FOLDER.glob("E[0-9]*.csv")}
        self.assertEqual(set(ALL), files)
        for number, about in ALL.items():
            with self.subTest(number=number):
                head, rows = series.read(number)
                self.assertEqual(series.head_of(number, about, head), "\n".join(head) + "\n")
                self.assertTrue(rows)
                self.assertEqual({about["kind"]}, {row["kind"] for row in rows})
                for row in rows:
                    self.assertEqual(series.COLUMNS, list(row))
                    series.number_of(row["bytes"])
                    series.span(row["us"])
                plot = FOLDER / f"{number}.svg"
                xml.dom.minidom.parse(str(plot))
                self.assertLess(plot.stat().st_size, 200000)

    def test_every_number_of_the_table_is_a_series_of_its_collective(self):
        with open(SOURCE / "src/core/choose/builtin.toml", "rb") as file:
            table = tomllib.load(file)
        named = 0
        for collective, table_rows in table.items():
            for number in (n for row in table_rows for n in rows.series_of(row)):
                with self.subTest(collective=collective, number=number):
                    data = series.read(number)[1]
                    self.assertIn(collective, {row["collective"] for row in data})
                named += 1
        self.assertGreater(named, 50)

    def test_simulated_series_were_made_by_their_commands(self):
        for number, about in ALL.items():
            if about["kind"] == "simulated":
                self.assertIn(f"Simulated by: {series.PYTHON} {number}", series.read(number)[0][1])

    def test_the_index_is_current(self):
        page = (FOLDER / "README.md").read_text(encoding="utf-8")
        self.assertTrue(page.endswith(series.index_text(ALL)), f"{TOOL} --heads writes it")

    def test_no_command_leaves_anything_open(self):
        for number, about in ALL.items():
            for command in series.commands_of(about):
                with self.subTest(number=number):
                    self.assertRegex(
                        command, r"^(taskset -c [0-9,]+ )?huddle (simulate|bench) \w+ "
                    )
                    self.assertNotRegex(command, r"[{}:]|NAME|SIZES")


class Table(unittest.TestCase):
    """The built-in table is what table.py writes."""

    def setUp(self):
        self.text = table.TABLE.read_text(encoding="utf-8")
        self.cells, self.data = simulated.load_cells(), simulated.read_range()

    def made(self, text, data):
        decided = table.decide(self.cells, data, rows.blocks_of(text))
        return table.table_text(text, decided, SOURCE_OF_ROWS)

    def test_the_table_is_current(self):
        self.assertEqual(0, table.main(["--check", "--huddle", str(BUILD / "bin" / "huddle")]))
        self.assertEqual(len(self.cells), self.text.count("\nholds = "))

    def test_what_was_not_measured_is_simulated(self):
        """Nobody has measured more than four bound ranks, or 16 that no level divides."""
        every = [row for row in map(rows.row_of, rows.blocks_of(self.text)) if row]
        calls = ("ranks", "bytes")
        asking = {  # of the time model: calls of a row, which the row that it names serves, too
            (collective, *map(row.get, calls)) for collective, row in every if "cheaper_than" in row
        }
        for collective, row in every:
            others = any(row.get(key) for key in ("fallback", "second", "oversubscribed"))
            if others or (collective, *map(row.get, calls)) in asking:
                continue
            together = row.get("divided") is False
            if measured.ends(row.get("ranks", "1-"))[1] > MEASURED_RANKS[together]:
                self.assertIn("holds", row, (collective, row))

    def test_a_spoilt_row_is_mended(self):
        for row, other in (
            (  # simulated
                'bytes = "0-1K"\nalgorithm = "inline"\nholds = "9/9 1.00"',
                'bytes = "0-1K"\nalgorithm = "windows"\nholds = "9/9 1.00"',
            ),
            (  # measured
                'algorithm = "queue"\nbudget = "128K"\nevidence = "E91"',
                'algorithm = "single"\nevidence = "E91"',
            ),
            (  # as other calls: E73 has none of its algorithm
                'budget = "512K"\nlike = "E72"',
                'budget = "512K"\nlike = "E72 E73"',
            ),
        ):
            with self.subTest(row=row):
                spoilt = self.text.replace(row, other, 1)
                self.assertFalse(self.text == spoilt)
                self.assertEqual(self.text, self.made(spoilt, self.data))

    def test_other_times_give_another_table(self):
        pick = "groups flat=15 release=each"
        key = next(key for key in self.data if key[3] == pick)
        self.assertFalse(self.text == self.made(self.text, {**self.data, key: 1e6}))
        del self.data[key]
        with self.assertRaises(SystemExit):
            self.made(self.text, self.data)

    def test_there_is_no_time_that_nothing_needs(self):
        needed = {
            key
            for cell, point in itertools.product(self.cells, simulated.POINTS)
            for _, keys in simulated.keys_of(cell, point)
            for key in keys
        }
        self.assertEqual(needed, set(self.data))


class Pick(unittest.TestCase):
    """Of two candidates on one team, by times of one's own."""

    CELL = {"collective": "barrier", "teams": ["m --ranks 2"], "candidates": ["here", "there"]}

    def verdict(self, here, there):
        """Their times at the point where gap and serve are three times as long; 1 elsewhere."""
        data = {
            key: {"here": here, "there": there}[algorithm] if point == ("3", "3") else 1.0
            for point in simulated.POINTS
            for (_, algorithm), keys in simulated.keys_of(self.CELL, point)
            for key in keys
        }
        return simulated.Verdict(self.CELL, data)

    def test_the_least_regret_is_taken(self):
        verdict = self.verdict(1.5, 1.0)
        self.assertEqual(("there", "9/9 1.00"), (verdict.pick("here"), verdict.holds("there")))
        self.assertEqual("8/9 1.50", verdict.holds("here"))

    def test_what_is_as_good_stays(self):
        self.assertEqual("here", self.verdict(1.04, 1.0).pick("here"))
        self.assertEqual("there", self.verdict(1.0, 1.04).pick("there"))

    def test_a_series_does_not_speak_of_another_algorithm(self):
        block = '[[barrier]]\nranks = "9-15"\nalgorithm = "groups"\nevidence = "E75"'
        self.assertIn("E75", rows.rewritten(block, "groups", "9/9 1.00"))
        self.assertNotIn("E75", rows.rewritten(block, "mcs", "9/9 1.00"))

    def test_what_is_no_candidate_goes(self):
        self.assertEqual("here", self.verdict(1.0, 1.2).pick("mcs"))

    def test_a_row_names_series_of_other_calls_as_such(self):
        block = '[[barrier]]\nranks = "9-15"\nalgorithm = "groups"\nevidence = "E75"'
        other = rows.naming(block, "like")
        self.assertEqual(block.replace("evidence", "like"), other)
        self.assertEqual(["E75"], rows.series_of(rows.row_of(other)[1]))
        self.assertEqual(block, rows.naming(other, "evidence"))


class Peers(unittest.TestCase):
    """Tables of what `huddle bench --summary` makes of figures."""

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

    def test_single_calls_are_those_that_are_compared(self):
        cases = [self.case(), self.case(ratio=None), self.case(setting={"loop": 100})]
        self.assertEqual(
            [[2, "core", "shift", "near", "bcast", 8, "1.1", "mpich5", "1.6", ".688", "ompi5", 4]],
            list(peers.single_calls(cases)),
        )

    def test_back_to_back_each_mpi_is_compared_with_itself(self):
        cases = [self.case(), self.case(setting={"loop": 100, "root": "0"}, ratio=None)]
        self.assertEqual(
            [
                ["ompi4", 2, "core", "0", "near", "bcast", 8, ".5", 4],
                ["mpich5", 2, "core", "0", "near", "bcast", 8, "1.25", 4],
            ],
            list(peers.loops(cases)),
        )

    def test_both_mpis_that_huddle_was_under_are_named(self):
        samples = [{"variant": "huddle", "mpi": mpi} for mpi in ("Open MPI  v4", "MPICH 5")]
        self.assertEqual("huddle: MPICH 5 and Open MPI v4", peers.versions(samples))

    def test_the_machine_is_this_one_or_named(self):
        machine = peers.Machine("A processor, quick,16")
        self.assertEqual(("A processor, quick", 16), (machine.name, machine.cores))
        self.assertEqual("peers-16-cores.csv", machine.file("peers.csv").name)
        self.assertEqual("peers.csv", peers.Machine("x,4").file("peers.csv").name)

    def test_figures_of_earlier_runs_are_summarised(self):
        """By the command itself, whose columns these are."""
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
    """The page of all comparisons with other MPIs."""

    CASES = [
        {"collective": "bcast", "bytes": size, "ratio": ratio, "peer": "intel", "bind": bind}
        for size, ratio, bind in (("8", ".5", "core"), ("2048", "2", "core"), ("8", ".7", "none"))
    ]

    def test_it_is_what_the_data_say(self):
        self.assertEqual(compared.PAGE.read_text(encoding="utf-8"), compared.page())
        self.assertIn("**", compared.page())  # some aim is missed

    def test_a_mean_is_geometric_and_the_slowest_case_is_named(self):
        self.assertEqual(
            ["| `bcast` | 2 | 1 | **1.00** | 2 KB: 2.00, intel |"],
            list(compared.of_group(self.CASES[:2])),
        )

    def test_ranks_that_outnumber_cores_have_an_aim_of_their_own(self):
        for case, text in (
            (self.CASES[2], "**0.70**"),
            ({**self.CASES[2], "bind": "core"}, "0.70"),
        ):
            self.assertIn(f" {text} |", next(compared.of_group([case])))


class Measured(unittest.TestCase):
    """Of two algorithms, by a series of one's own."""

    ROW = {"ranks": "2-4", "bytes": "1K-", "algorithm": "tree", "degree": 2, "evidence": "E0"}

    def verdict(self, *lines, was_quick=True, head="", **more):
        """lines: ranks, bytes, algorithm, us."""
        data = [
            dict(
                zip(
                    series.COLUMNS,
                    ("reduce", ranks, "bound", size, name, us, "40", "measured", "m"),
                )
            )
            for ranks, size, name, us in lines
        ]
        source = measured.Source(SOURCE_OF_ROWS.known, {"E0": {"quick": was_quick}})
        with unittest.mock.patch.object(series, "read", lambda name: ([head], data)):
            return measured.Verdict("reduce", {**self.ROW, **more}, source)

    def test_the_fastest_in_the_mean_is_taken(self):
        own, other = ("2", "1K", "tree degree=2", "3"), ("2", "1K", "gather", "1")
        verdict = self.verdict(
            own, other, ("4", "1K", "degree=2 tree", "4"), ("4", "1K", "gather", "6")
        )
        self.assertEqual({"tree degree=2", "gather"}, verdict.candidates())
        self.assertAlmostEqual(0.5**0.5, verdict.mean("gather"))
        self.assertEqual("gather", verdict.pick())
        self.assertEqual([3], [round(us) for _, us, _, _ in verdict.contradictions()])

    def test_what_is_as_good_stays(self):
        verdict = self.verdict(("2", "1K", "tree degree=2", "1.04"), ("2", "1K", "gather", "1"))
        self.assertEqual("tree degree=2", verdict.pick())

    def test_what_was_not_measured_everywhere_is_no_candidate(self):
        own = [("2", size, "tree degree=2", "9") for size in ("1K", "2K")]
        self.assertEqual("tree degree=2", self.verdict(*own, ("2", "1K", "gather", "1")).pick())

    def test_calls_of_other_rows_do_not_count(self):
        own = ("2", "1K", "tree degree=2", "1")
        more = [("8", "1K"), ("2", "8"), ("2-8", "1K")]
        lines = [
            (*call, name, us)
            for call in more
            for name, us in (("tree degree=2", "9"), ("gather", "1"))
        ]
        verdict = self.verdict(own, *lines)
        self.assertEqual(1, len(verdict.places))
        self.assertEqual("tree degree=2", verdict.pick())

    def test_several_times_count_as_one(self):
        lines = [("2", "1K", "tree degree=2", us) for us in ("2", "8")]
        verdict = self.verdict(*lines, ("2", "1K", "gather", "2"))
        self.assertAlmostEqual(0.5, verdict.mean("gather"))

    def test_kernel_copies_are_those_of_the_row_and_the_series(self):
        lines = ("2", "1K", "tree degree=2", "9"), ("2", "1K", "single", "1")
        own, kernel = "tree degree=2", "single"
        for was_quick, row, pick in (
            (True, {}, kernel),
            (True, {"quick": True}, kernel),
            (True, {"quick": False}, own),
            (True, {"direct": False}, own),
            (False, {"quick": False, "direct": True}, kernel),
            (False, {"quick": True}, own),
        ):
            with self.subTest(was_quick=was_quick, row=row):
                self.assertEqual(pick, self.verdict(*lines, was_quick=was_quick, **row).pick())

    def test_only_algorithms_of_the_library_are_taken(self):
        own = ("2", "1K", "tree degree=2", "9")
        for name in (
            "messages",
            "own",
            "best of MPICH 5",
            "gather huddle_prefetch=2K",
            "inline x=1",
        ):
            with self.subTest(name=name):
                self.assertEqual("tree degree=2", self.verdict(own, ("2", "1K", name, "1")).pick())

    def test_no_measured_time_changes_nothing(self):
        verdict = self.verdict(("2", "1K", "gather", "1"))
        self.assertEqual("tree degree=2", verdict.pick())
        self.assertEqual({"bound", "oversubscribed"}, verdict.lacking)

    def test_transcribed_times_do_not_count(self):
        lines = ("2", "1K", "tree degree=2", "9"), ("2", "1K", "gather", "1")
        self.assertEqual("gather", self.verdict(*lines).pick())
        self.assertEqual({}, self.verdict(*lines, head="# Transcribed from notes").places)


if __name__ == "__main__":
    unittest.main()
