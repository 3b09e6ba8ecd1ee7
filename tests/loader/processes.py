# SPDX-License-Identifier: BSD-3-Clause
"""Programs that the tests of the loader build, and run with and without huddle."""

import glob
import os
import shutil
import subprocess
import tempfile
import unittest

from paths import BUILD, SOURCE

HERE = os.path.join(SOURCE, "tests", "loader")
HUDDLE = os.path.join(BUILD, "bin", "huddle")
(LOADER,) = glob.glob(os.path.join(BUILD, "lib*", "huddle", "libhuddle-loader.so"))
RECORDER = os.path.join(os.path.dirname(LOADER), "libhuddle-record.so")
AS_ROOT = {
    f"{base}_ALLOW_RUN_AS_ROOT{end}": "1" for base in ("OMPI", "PRTE") for end in ("", "_CONFIRM")
}
# huddle decides about all calls: it leaves some to the MPI only to measure, or if that is faster.
SERVED = r"(?m)allreduce +200 +[1-9]\d* .* (none|\d+ native collective faster)$"
LIMIT_S = 60
MPIS = [
    (compiler, launcher, library)
    for compiler, launcher, library in (
        ("mpicc.openmpi", ("mpirun.openmpi", "--oversubscribe", "-np"), "libmpi.so.40"),
        ("mpicc.mpich", ("mpiexec.mpich", "-n"), "libmpich.so.12"),
    )
    if shutil.which(compiler) and shutil.which(launcher[0])
]


def environment(more):
    kept = {
        k: v for k, v in os.environ.items() if not k.startswith(("HUDDLE", "LD_", "PMI", "OMPI"))
    }
    return {**kept, **AS_ROOT, **more}


def run(*words, **more):
    return subprocess.run(
        words,
        capture_output=True,
        text=True,
        env=environment(more),
        timeout=LIMIT_S,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def huddle(*words, **more):
    return run(HUDDLE, "run", *words, **more)


def lines(answer):
    """Returns the lines that huddle printed."""
    return [line for line in answer.stderr.splitlines() if line.startswith("huddle: ")]


class Built(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def at(self, *names):
        return os.path.join(self.folder, *names)

    def build(self, name, source, *words, compiler="cc"):
        path = self.at(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if ".so" in name:
            words = ("-shared", f"-Wl,-soname,{os.path.basename(name)}", *words)
        subprocess.run(
            [
                compiler,
                "-w",
                "-O1",
                "-fPIC",
                "-o",
                path,
                os.path.join(HERE, source),
                *words,
                "-ldl",
            ],
            check=True,
        )
        return path

    def alike(self, *command, **more):
        """Checks that the command behaves the same with and without huddle.  Returns its output."""
        alone, served = run(*command, **more), huddle(*command, **more)
        self.assertEqual(
            (alone.returncode, alone.stdout, alone.stderr),
            (served.returncode, served.stdout, served.stderr),
        )
        return alone.stdout


class WithMpi(Built):
    """Base class of tests with each MPI of this machine."""

    def setUp(self):
        super().setUp()
        self.assertTrue(MPIS, "no MPI here")

    def each(self, name, source, *words):
        for compiler, launcher, library in MPIS:
            program = self.build(f"{name}-{compiler}", source, *words, compiler=compiler)
            yield [*launcher, "2"], program, library

    def serves(self, answer, result="sum 3"):
        self.assertEqual(0, answer.returncode, answer.stderr)
        self.assertIn(result, answer.stdout)
        self.assertRegex(answer.stderr + answer.stdout, SERVED)
