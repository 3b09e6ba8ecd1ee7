# SPDX-License-Identifier: BSD-3-Clause
"""
Tests that all ranks of a job fall back if their versions of huddle differ, or their built-in
choices, which determine the layout of slices.

./test tries each case under one MPI, in turn; ./test --full under both.
"""

import glob
import json
import os
import shutil
import subprocess
import tempfile
import unittest

from paths import BUILD

BRIEF = not os.environ.get("HUD_TEST_FULL")
OTHERS = [
    os.path.join(BUILD, "test", f"libhuddle_other_{what}.so") for what in ("version", "choices")
]

HERE = os.path.dirname(os.path.abspath(__file__))
SUMS = os.path.join(HERE, os.pardir, "mpi", "sums.c")
CALLS = 50  # calls of each collective, by each rank
MPIS = [
    (compiler, launcher)
    for compiler, launcher in (
        ("mpicc.openmpi", ("mpirun.openmpi", "--oversubscribe")),
        ("mpicc.mpich", ("mpiexec.mpich",)),
    )
    if shutil.which(compiler) and shutil.which(launcher[0])
]
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


class Versions(unittest.TestCase):
    def setUp(self):
        self.assertTrue(MPIS, "no MPI here")
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name
        self.ours = self.install("ours")

    def install(self, name, library=None):
        """Makes an installation of this build, with another library if there is one."""
        prefix = os.path.join(self.folder, name)
        subprocess.run(
            ["cmake", "--install", BUILD, "--prefix", prefix], check=True, stdout=subprocess.DEVNULL
        )
        if library:
            shutil.copy(library, glob.glob(f"{prefix}/lib*/libhuddle.so.*.*")[0])
        return prefix

    def job(self, compiler, launcher, *prefixes):
        """Returns the output and counts of two ranks of each installation, in one job."""
        program, stats = (os.path.join(self.folder, name) for name in (compiler, "stats.json"))
        if not os.path.exists(program):
            subprocess.run([compiler, "-O1", "-o", program, SUMS], check=True)
        words = []
        for prefix in prefixes:
            loader = glob.glob(f"{prefix}/lib*/huddle/libhuddle-loader.so")[0]
            words += [":"] if words else []
            words += ["-n", "2", "env", f"LD_PRELOAD={loader}", program]
        kept = {k: v for k, v in os.environ.items() if not k.startswith("HUDDLE")}
        done = subprocess.run(
            [*launcher, *words],
            env={
                **kept,
                **AS_ROOT,
                "HUDDLE_STATS": f"json:{stats}",
                "HUDDLE_JOB": "5" * 32,
                "HUDDLE_WISDOM": "off",  # a trial of the MPI's own broadcast is not handled
            },
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )
        self.assertEqual((0, "4 ranks, 0 wrong\n"), (done.returncode, done.stdout), done.stderr)
        with open(stats, encoding="utf-8") as file:
            rows = json.load(file)["collectives"]
        os.unlink(stats)
        return done.stderr, {name: rows[name] for name in ("allreduce", "bcast")}

    def each_mpi(self, case):
        """Returns the MPIs under which a case is run."""
        return [MPIS[case % len(MPIS)]] if BRIEF else MPIS

    def test_two_installations_of_one_version_work_together(self):
        copy = self.install("copy")
        for mpi in self.each_mpi(0):
            with self.subTest(mpi=mpi[0]):
                output, rows = self.job(*mpi, self.ours, copy)
                self.assertEqual("", output)
                for row in rows.values():
                    self.assertEqual({}, row["passed"])
                    self.assertGreaterEqual(row["handled"], CALLS)

    def test_different_versions_fall_back_on_all_ranks(self):
        for case, library in enumerate(OTHERS):
            other = self.install(os.path.basename(library), library)
            for mpi in self.each_mpi(case):
                with self.subTest(library=library, mpi=mpi[0]):
                    output, rows = self.job(*mpi, self.ours, other)
                    self.assertIn("run different versions of huddle", output)
                    for row in rows.values():
                        self.assertEqual(0, row["handled"])
                        self.assertEqual(["versions differ"], list(row["passed"]))
                        self.assertGreaterEqual(row["passed"]["versions differ"], CALLS)
