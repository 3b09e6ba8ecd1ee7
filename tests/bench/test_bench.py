# SPDX-License-Identifier: BSD-3-Clause
"""
Runs `huddle bench`, its programs and quickstart's checks, and checks their reports about wrong
bytes, peers and failures.
"""

import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from paths import BUILD, SOURCE

sys.path.insert(0, os.path.join(SOURCE, "examples", "programs"))

import hpcc
import quickstart
from harness import without_progress
from jobs import JobFailed, Jobs

from cli.common import jobs

TOOLS = os.path.join(BUILD, "libexec", "huddle")
OPENMPI, TEAM, HUDDLE = (
    os.path.join(TOOLS, "bench-openmpi"),
    os.path.join(TOOLS, "bench-team"),
    os.path.join(BUILD, "bin", "huddle"),
)
FEW = (
    "--min",
    "4",
    "--max",
    "4",
    "--figure-ms",
    "30000",
)  # this many shots, even on a busy machine
UNBOUND = ("--bind", "none")  # figures of bound ranks are omitted when the line's class changes
BARE = ("barrier", "bcast", "allreduce", "alltoall")
FIGURE = {
    "collective",
    "bytes",
    "median_ns",
    "p99_ns",
    "min_ns",
    "mean_ns",
    "max_ns",
    "shots",
    "late",
    "refused",
    "wrong",
    "cpu_ns",
    "line_before_ns",
    "line_after_ns",
}

REPORT = """Found 0 errors in 131072 locations (passed).
WALL   200   200  40  40   1   2     0.00 PASSED    2.501  0.00
Solution Validates: avg error less than 1.000000e-13 on all three arrays
||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=        0.0117942 ...... PASSED
              0 tests completed and failed residual checks,
Success=1
"""


class Hpcc(unittest.TestCase):
    def test_a_good_report_passes(self):
        self.assertEqual(5, hpcc.checks_passed(REPORT))

    def test_a_report_without_any_one_line_fails(self):
        lines = REPORT.splitlines(keepends=True)
        for i, line in enumerate(lines):
            with self.subTest(missing=line), self.assertRaises(JobFailed):
                hpcc.checks_passed("".join(lines[:i] + lines[i + 1 :]))

    def test_failures(self):
        for good, bad in (
            ("...... PASSED", "...... FAILED"),
            ("(passed)", "(failed)"),
            ("Success=1", "Success=0"),
        ):
            with self.subTest(bad=bad), self.assertRaises(JobFailed):
                hpcc.checks_passed(REPORT.replace(good, bad))


class Taken(unittest.TestCase):
    def test_no_handled_call_is_a_failure(self):
        for statistics in ({}, {"collectives": {"barrier": {"calls": 9, "handled": 0}}}):
            with self.assertRaises(JobFailed):
                quickstart.count_handled(statistics, "it", ["barrier"])

    def test_handled_calls_are_counted(self):
        statistics = {
            "collectives": {
                "barrier": {"calls": 9, "handled": 4},
                "bcast": {"calls": 0, "handled": 0},
            }
        }
        self.assertEqual("4 of 9 barrier", quickstart.count_handled(statistics, "it", ["barrier"]))
        with self.assertRaisesRegex(JobFailed, "no call of allreduce"):
            quickstart.count_handled(statistics, "it", ["barrier", "allreduce"])


def call(*words, **environment):
    env = {k: v for k, v in os.environ.items() if not k.startswith("HUDDLE")}
    return without_progress(
        subprocess.run(
            words,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**env, **environment},
            timeout=110,
            check=False,
        )
    )


class Programs(unittest.TestCase):
    """Tests of bench-openmpi and bench-team on two ranks."""

    def setUp(self):
        self.jobs = Jobs(BUILD)
        self.start = self.jobs.on_openmpi(2, bound=True)

    def need_openmpi(self):
        if not os.path.exists(OPENMPI):
            self.skipTest("no Open MPI here")

    def check(self, answer, collectives, sizes):
        self.assertEqual((2, 0), (answer["ranks"], answer["wrong"]))
        self.assertEqual(
            [
                (name, size)
                for name in collectives
                for size in ([0] if "barrier" in name else sizes)
            ],
            [(f["collective"], f["bytes"]) for f in answer["figures"]],
        )
        for figure in answer["figures"]:
            self.assertEqual(FIGURE, set(figure))
            self.assertGreater(figure["shots"], 0)
            times = [figure[f"{name}_ns"] for name in ("min", "median", "p99", "max")]
            self.assertEqual(sorted(times), times)

    def test_openmpi_is_measured_with_and_without_huddle(self):
        self.need_openmpi()
        for huddle in (False, True):
            output, _ = self.jobs.run(
                [*self.start, OPENMPI, "--bytes", "1,1000,65536", *FEW], huddle
            )
            answered = call(os.path.join(TOOLS, "query"), "info", "collectives")
            self.check(
                json.loads(output),
                [row["name"] for row in json.loads(answered.stdout)],
                [1, 1000, 65536],
            )

    def test_every_way_to_measure_gives_figures(self):
        for words in (
            ["--root", "shift"],
            ["--root", "1"],
            ["--cold"],
            ["--skew-us", "100"],
            ["--late-us", "200"],
            ["--loop", "20"],
            ["--warmups", "0"],
        ):
            with self.subTest(words=words):
                names = "barrier,bcast,bare_barrier,bare_bcast,bare_allreduce,bare_alltoall"
                answer = call(TEAM, "--bytes", "8,3000", "--coll", names, *FEW, *words)
                self.assertEqual((0, ""), (answer.returncode, answer.stderr))
                self.check(
                    json.loads(answer.stdout),
                    ["barrier", "bcast", *(f"bare_{name}" for name in BARE)],
                    [8, 3000],
                )

    def test_roots_in_turn_within_a_loop(self):
        """Checks the counts of each root, and the data of the first and last root."""
        self.need_openmpi()
        names = "bcast,reduce,gather,scatter,gatherv,scatterv"
        words = ("--coll", names, "--bytes", "8,3000", *FEW, "--root", "shift", "--loop", "6")
        for output in (call(TEAM, *words).stdout, self.jobs.run([*self.start, OPENMPI, *words])[0]):
            self.check(json.loads(output), names.split(","), [8, 3000])

    def test_bare_calls_work_on_three_ranks_with_every_root(self):
        names = ",".join(f"bare_{name}" for name in BARE)
        words = ("--ranks", "3", "--bytes", "8,100000", "--root", "shift", "--coll", names)
        answer = json.loads(call(TEAM, *words, *FEW).stdout)
        self.assertEqual((3, 0), (answer["ranks"], answer["wrong"]))
        self.assertEqual([0] * 7, [figure["refused"] for figure in answer["figures"]])

    def test_bare_calls_larger_than_a_window_are_refused(self):
        words = ("--bytes", str((64 << 20) + 8), "--coll", "bare_allreduce,bare_alltoall")
        answer = json.loads(call(TEAM, *words, *FEW).stdout)
        self.assertTrue(all(figure["refused"] > 0 for figure in answer["figures"]))

    def test_a_result_with_fewer_numbers_than_ranks_is_still_divided(self):
        """Checks that each call has a number to add, with fewer numbers than ranks."""
        with tempfile.TemporaryDirectory() as folder:
            stats = os.path.join(folder, "stats.json")
            answer = json.loads(
                call(
                    TEAM,
                    "--coll",
                    "reduce_scatter",
                    "--bytes",
                    "8",
                    *FEW,
                    HUDDLE_STATS=f"json:{stats}",
                ).stdout
            )
            with open(stats, encoding="utf-8") as file:
                counted = json.load(file)["collectives"]["reduce_scatter"]
        self.check(answer, ["reduce_scatter"], [8])
        self.assertEqual(8 * counted["calls"], counted["bytes"])

    def test_waiting_for_late_ranks_costs_processor_time(self):
        figures = json.loads(call(TEAM, "--coll", "barrier", *FEW, "--late-us", "3000").stdout)[
            "figures"
        ]
        self.assertTrue(figures[0]["cpu_ns"] > 0 and figures[0]["shots"] == 4, figures)

    def test_refused_calls_have_no_figure(self):
        figures = json.loads(
            call(
                TEAM, "--coll", "barrier,bcast", "--bytes", "8,65536", *FEW, HUDDLE_BCAST="inline"
            ).stdout
        )["figures"]
        self.assertEqual(
            [0, 0, True], [figures[0]["refused"], figures[1]["refused"], figures[2]["refused"] > 0]
        )
        self.assertEqual(0, figures[2]["wrong"])

    def test_errors(self):
        for words in (
            ["--bytes", "x"],
            ["--coll", "rotate"],
            ["--figure-ms"],
            ["--ranks", "1"],
            ["--bind", "here"],
            ["--ring", "5:5"],
            ["--root", "-1"],
            ["--what", "1"],
        ):
            with self.subTest(words=words):
                answer = call(TEAM, *words)
                self.assertEqual(
                    (2, f"huddle: bench-team: {words[0]}: not an option, or not a valid value\n"),
                    (answer.returncode, answer.stderr),
                )

    def test_wrong_bytes_are_noticed(self):
        self.need_openmpi()
        with tempfile.TemporaryDirectory() as scratch:
            library = os.path.join(scratch, "corrupt.so")
            subprocess.run(
                [
                    "mpicc.openmpi",
                    "-shared",
                    "-fPIC",
                    os.path.join(SOURCE, "tests", "bench", "corrupt.c"),
                    "-o",
                    library,
                ],
                check=True,
            )
            with self.assertRaisesRegex(JobFailed, r'status 1[^\d](.|\n)*"wrong": [1-9]'):
                self.jobs.run(
                    [
                        *self.start,
                        "env",
                        f"LD_PRELOAD={library}",
                        OPENMPI,
                        "--bytes",
                        "1,8,65537",
                        *FEW,
                    ]
                )
            words = ("--bytes", "64", "--launches", "1", "--shots", "4", "--figure-ms", "20")
            words += ("--mpi", "ompi4")
            answer = call(HUDDLE, "bench", "bcast", *words, LD_PRELOAD=library)
            self.assertEqual(1, answer.returncode)
            self.assertRegex(answer.stderr, r"ompi4, 2 ranks: \d+ bytes were wrong")


class Command(unittest.TestCase):
    """Tests of huddle bench."""

    def setUp(self):
        if not os.path.exists(OPENMPI):
            self.skipTest("no Open MPI here")

    def measured(self, *words):
        """Returns the JSON of a run that succeeds without messages."""
        with tempfile.TemporaryDirectory() as scratch:
            file = os.path.join(scratch, "out.json")
            answer = call(HUDDLE, "bench", *words, *UNBOUND, "--shots", "4", "--json", file)
            self.assertEqual((0, ""), (answer.returncode, answer.stderr), answer.stdout)
            with open(file, encoding="utf-8") as written:
                return json.load(written)

    def test_side_by_side(self):
        seen = self.measured(
            "--bytes",
            "8,64K",
            "--launches",
            "2",
            "--mpi",
            "ompi4",
            "--against",
            "ompi4,ompi4-tree",
            "--bare",
        )
        self.assertEqual(
            {"barrier", "reduce"},
            {s["collective"] for s in seen["samples"] if s["variant"] == "ompi4-tree"},
        )
        order = list(dict.fromkeys((s["launch"], s["variant"]) for s in seen["samples"]))
        self.assertEqual(
            [
                (launch, name)
                for launch in (1, 2)
                for name in ("ompi4", "ompi4-tree", "huddle", "bare")
            ],
            order,
        )

    def test_an_mpi_can_be_given_by_its_launcher(self):
        seen = self.measured(
            "barrier",
            "--launches",
            "1",
            "--mpi",
            "mine",
            "--place",
            f"mine={shutil.which('mpirun.openmpi')}",
            "--against",
            "mine,mine-tree",
        )
        self.assertEqual(["mine", "mine-tree", "huddle"], [s["variant"] for s in seen["samples"]])

    def test_sizes_that_an_algorithm_does_not_accept_are_left_out(self):
        words = ("bcast", "--algorithm", "inline", "--launches", "1", "--mpi", "ompi4")
        words += ("--against", "none")
        more = (*UNBOUND, "--shots", "4", "--details")
        answer = call(HUDDLE, "bench", *words, "--bytes", "8,64K", *more)
        self.assertEqual(0, answer.returncode, answer.stderr)
        self.assertIn("huddle inline, 2 ranks: handles 1 of 2 sizes of bcast", answer.stderr)
        self.assertNotIn("64 KB", answer.stdout)
        self.measured(*words, "--bytes", "8")  # no messages, since all calls are handled

    def test_a_collective_that_falls_back_has_no_figure_of_huddle(self):
        with tempfile.TemporaryDirectory() as scratch:
            file = os.path.join(scratch, "out.json")
            words = ("--bytes", "8", "--launches", "1", "--shots", "4", "--mpi", "ompi4")
            words += ("--set", "HUDDLE_ALLTOALL=mpi", "--json", file)
            answer = call(HUDDLE, "bench", "bcast", "alltoall", *words)
            self.assertIn("huddle, 2 ranks: handles no call of alltoall\n", answer.stderr)
            with open(file, encoding="utf-8") as written:
                samples = json.load(written)["samples"]
        self.assertEqual(
            {("ompi4", "bcast"), ("ompi4", "alltoall"), ("huddle", "bcast")},
            {(sample["variant"], sample["collective"]) for sample in samples},
        )

    def test_candidates_are_compared_on_one_team(self):
        words = ("bench", "reduce", "--bytes", "8K", "--launches", "1", "--figure-ms", "5")
        words += UNBOUND
        names = ("gather fragment=8K", "tree", "own huddle_prefetch=0")
        words += tuple(word for name in names for word in ("--compare", name))
        with tempfile.TemporaryDirectory() as scratch:
            path, plain = (os.path.join(scratch, name) for name in ("rows.json", "columns"))
            answer = call(HUDDLE, *words, "--json", path, "--columns", plain)
            self.assertEqual(0, answer.returncode, answer.stderr)
            with open(plain, encoding="utf-8") as file:
                self.assertRegex(file.read(), r"(?m)^8192( [0-9.]+){3}$")
            with open(path, encoding="utf-8") as file:
                samples = json.load(file)["samples"]
        self.assertEqual(list(names), [sample["variant"] for sample in samples])
        self.assertTrue(all(sample["median_ns"] > 0 for sample in samples))

    def test_a_candidate_that_handles_no_call_is_named(self):
        """Checks that the other candidate is measured.  inline accepts no large reductions."""
        words = ("bench", "reduce", "--launches", "2", "--figure-ms", "5", "--compare=tree")
        words += UNBOUND
        for name, sizes, status, expected in (
            ("inline", "1M,2M", 1, "reduce of 1 MB, 2 MB not measured: setting, but it "),
            ("inline", "8,1M", 0, "reduce of 1 MB not measured: setting, but it "),
            ("tree huddle_wait=never", "8", 1, "HUDDLE_WAIT=never is not valid"),
        ):
            with self.subTest(name=name, sizes=sizes), tempfile.TemporaryDirectory() as scratch:
                file = os.path.join(scratch, "rows.json")
                answer = call(HUDDLE, *words, f"--compare={name}", "--bytes", sizes, "--json", file)
                self.assertRegex(
                    answer.stderr, rf"^huddle: bench: {name}, 2 ranks: [^\n]*{expected}[^\n]*\n"
                )
                self.assertEqual(1, answer.stderr.count(name), answer.stderr)
                with open(file, encoding="utf-8") as written:
                    samples = json.load(written)["samples"]
                self.assertIn("tree", {sample["variant"] for sample in samples})
                self.assertEqual(status, answer.returncode, answer.stderr)

    def test_two_ranks_can_share_one_processor(self):
        """Checks that no line transfer is measured, which would need two processors."""
        one = str(min(os.sched_getaffinity(0)))
        for more in ((), ("--compare=tree", "--compare=gather")):
            with self.subTest(more=more), tempfile.TemporaryDirectory() as scratch:
                file = os.path.join(scratch, "rows.json")
                words = ("reduce", "--bytes", "1K", "--launches", "1", "--json", file, *more)
                answer = call("taskset", "-c", one, HUDDLE, "bench", *words)
                self.assertEqual((0, ""), (answer.returncode, answer.stderr))
                self.assertIn("2 ranks, not bound", answer.stdout)
                with open(file, encoding="utf-8") as written:
                    rows = json.load(written)["rows"]
                self.assertEqual([(None, "any")], [(row["line_ns"], row["line"]) for row in rows])

    def test_ranks_that_outnumber_cores_have_a_line_transfer(self):
        """Checks that the transfer is between any two processors of the ranks."""
        if (processors := len(os.sched_getaffinity(0))) < 2:
            self.skipTest("one processor")
        words = ("barrier", "--ranks", str(2 * processors), "--launches", "1", "--shots", "4")
        with tempfile.TemporaryDirectory() as scratch:
            file = os.path.join(scratch, "rows.json")
            for more in (("--mpi", "ompi4", "--against", "none"), ("--compare=own",) * 2):
                call(HUDDLE, "bench", *words, *more, "--json", file)
                with open(file, encoding="utf-8") as written:
                    samples = json.load(written)["samples"]
                for sample in samples:
                    self.assertEqual("shared", sample["bind"])
                    self.assertGreater(sample["line_before_ns"], 0)

    def test_a_summary_has_a_line_for_each_collective(self):
        words = ("barrier", "bcast", "--bytes", "8", "--ranks", "2", "--launches", "1")
        words += ("--shots", "4", "--mpi", "ompi4", "--against", "ompi4")
        answer = call(HUDDLE, "bench", "--summary", *words)
        if "no figure is shown" in answer.stderr:
            self.skipTest("the processors moved during each figure")
        self.assertEqual(0, answer.returncode, answer.stderr)
        self.assertRegex(answer.stdout, r"same MPI, by\n  (barrier|bcast|all) ")

    def test_invalid_comparisons_are_one_line(self):
        for words, expected in (
            (("tree",), "two candidates or more"),
            (("tree", "bush"), r"no reduce/bush \(accepted: own, "),
            (("tree", "gather height=3"), "reduce/gather has no parameter height"),
            (("tree", "gather fragment=7X"), "not a value of reduce/gather fragment"),
            (("tree", "gather fragment"), "'fragment': not understood"),
            (("tree", "slices", "--against=none"), "--compare and --against exclude each other"),
        ):
            words = [w if w.startswith("--") else f"--compare={w}" for w in words]
            answer = call(HUDDLE, "bench", "reduce", *words)
            with self.subTest(words=words):
                self.assertEqual(2, answer.returncode)
                self.assertRegex(answer.stderr, r"^huddle: bench: [^\n]*" + expected + r"[^\n]*\n$")

    def test_a_missing_peer_is_reported_at_the_end(self):
        with tempfile.TemporaryDirectory() as path:
            os.symlink(sys.executable, os.path.join(path, "python3"))
            answer = call(
                HUDDLE,
                "bench",
                "barrier",
                "--launches",
                "1",
                "--shots",
                "4",
                "--place",
                f"ompi4={shutil.which('mpirun.openmpi')}",
                "--against",
                "ompi4,mpich4",
                *UNBOUND,
                PATH=path,
                OMPI_MCA_plm="isolated",
            )
        self.assertEqual((1, 1), (answer.returncode, answer.stderr.count("\n")), answer.stderr)
        self.assertIn("mpich4: not found here", answer.stderr)
        self.assertRegex(answer.stdout, "not found here: mpich4\n")

    def test_unwritable_files_are_reported_before_measuring(self):
        with tempfile.TemporaryDirectory() as scratch:
            for words in (
                ["--csv", "/proc/x"],
                ["--json", scratch],
                ["--html", os.path.join(scratch, "nowhere", "x")],
                ["--csv", ""],
            ):
                with self.subTest(words=words):
                    answer = call(HUDDLE, "bench", "--mpi", "ompi4", "--limit", "1", *words)
                    self.assertEqual((2, ""), (answer.returncode, answer.stdout))
                    self.assertRegex(
                        answer.stderr, rf"^huddle: {' '.join(words)}: cannot be written: [^\n]*\n$"
                    )
            self.assertEqual([], os.listdir(scratch))

    def test_bad_options_are_reported_in_one_line(self):
        for words, expected in (
            (["rotate"], "no such collective: rotate"),
            (["--algorithm", "best"], "--algorithm best"),
            (["--against", "mpich3"], "--against mpich3"),
            (["--bytes", "lots"], "--bytes lots: not a size"),
            (["--mpi", "nompi"], "--mpi nompi"),
            (["--set", "HUDDLE_NOTHING=1"], "HUDDLE_NOTHING"),
            (["--place", "ompi5=/dev"], "--place ompi5=/dev"),
            (["-msglog", "5:4"], "-msglog 5:4: "),
        ):
            with self.subTest(words=words):
                answer = call(HUDDLE, "bench", *words)
                self.assertEqual((2, ""), (answer.returncode, answer.stdout))
                self.assertIn(expected, answer.stderr)
                self.assertEqual(1, answer.stderr.count("\n"), answer.stderr)

    def test_a_failed_job_prints_its_last_lines(self):
        answer = call(
            HUDDLE,
            "bench",
            "barrier",
            "--launches",
            "2",
            "--mpi",
            "ompi4",
            "--against",
            "none",
            HUDDLE_MEMORY="0",
        )
        self.assertEqual(1, answer.returncode)
        self.assertRegex(
            answer.stderr, r"huddle, 2 ranks: left out: huddle handled no call \(no shared memory\)"
        )

    def stopped(self, how, seconds):
        """Returns status and messages, and checks that no process or folder is left."""
        with tempfile.TemporaryDirectory() as scratch:
            job = subprocess.Popen(
                [
                    HUDDLE,
                    "bench",
                    "barrier",
                    "--launches",
                    "500",
                    "--figure-ms",
                    "50",
                    "--mpi",
                    "ompi4",
                ],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env={**os.environ, "BENCH_TEST": str(os.getpid()), "TMPDIR": scratch},
            )
            time.sleep(seconds)
            job.send_signal(how)
            output, errors = job.communicate(timeout=60)
            self.assertEqual([], jobs.marked(str(os.getpid()), "BENCH_TEST"))
            self.assertEqual([], glob.glob(os.path.join(scratch, "huddle-*")))
        return job.returncode, output, errors

    def test_ctrl_c_prints_the_figures_so_far_and_leaves_no_process(self):
        status, output, errors = self.stopped(signal.SIGINT, 6)
        self.assertEqual(130, status, errors)
        self.assertRegex(output, r"ompi4 +[\d.]+|figure\(s\) left out")
        self.assertIn("ended by Ctrl-C", errors)

    def test_sigterm_is_like_ctrl_c(self):
        status, _, errors = self.stopped(signal.SIGTERM, 4)
        self.assertEqual(143, status, errors)
        self.assertIn("ended by SIGTERM", errors)
