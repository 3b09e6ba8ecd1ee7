# SPDX-License-Identifier: BSD-3-Clause
"""
Tests the wheel for aarch64: built by its script with a cross compiler, accepted by auditwheel, and
working in an emulator under two MPIs.
"""

import glob
import os
import re
import shutil
import subprocess
import unittest
import zipfile

from paths import BUILD, SOURCE

FOLDER = os.path.join(BUILD, "wheel_aarch64")
PACKAGES = os.path.join(FOLDER, "packages-aarch64")  # folder that build.sh makes
TOOLS = os.path.join(PACKAGES, "tools", "usr")
EMULATOR = [
    os.path.join(TOOLS, "bin", "qemu-aarch64-static"),
    "-L",
    os.path.join(PACKAGES, "sysroot"),
]
# The emulator does not support process_vm_readv, which Open MPI would use.
OF_THE_JOB = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "OMPI_MCA_pml": "ob1",
}
MACHINE_AARCH64 = 183  # e_machine of an ELF header


def run(*words, **more):
    done = subprocess.run(
        words, env={**os.environ, **more}, capture_output=True, text=True, timeout=1800, check=False
    )
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        script = os.path.join(SOURCE, "packaging", "wheel", "build.sh")
        cls.wheel = run(script, "--aarch64", FOLDER).split()[-1]
        cls.folder = os.path.join(FOLDER, "unpacked-aarch64")
        shutil.rmtree(cls.folder, ignore_errors=True)
        with zipfile.ZipFile(cls.wheel) as archive:
            archive.extractall(cls.folder)
        (cls.prefix,) = glob.glob(os.path.join(cls.folder, "*.data", "data"))
        cls.huddle = os.path.join(cls.prefix, "bin", "huddle")
        os.chmod(cls.huddle, 0o755)  # pip does the same

    def test_auditwheel_accepts_it(self):
        name = os.path.basename(self.wheel)
        found = re.match(r"huddle_mpi-[0-9.]+-py3-none-(manylinux_2_34_aarch64)\.whl$", name)
        self.assertTrue(found, name)
        shown = run(os.path.join(FOLDER, "tools", "bin", "auditwheel"), "show", self.wheel)
        self.assertIn(f'"{found[1]}"', shown)

    def test_all_libraries_are_for_aarch64(self):
        others, count = [], 0
        for folder, _, names in os.walk(self.folder):
            for path in (os.path.join(folder, name) for name in names):
                with open(path, "rb") as file:
                    head = file.read(20)
                if head[:4] == b"\x7fELF":
                    count += 1
                    others += [path] if head[18] != MACHINE_AARCH64 else []
        self.assertEqual([], others)
        self.assertGreater(count, 10)
        for front_end in (
            "openmpi-4.1/mca_coll_huddle.so",
            "openmpi-5.0/mca_coll_huddle.so",
            "libhuddle-mpich.so",
        ):
            path = os.path.join(self.prefix, "lib", "huddle", front_end)
            self.assertTrue(os.path.exists(path), path)

    def test_a_job_in_the_emulator(self):
        """Checks a job of emulated ranks with this machine's own launchers."""
        self.assertIn("--stats", run(*EMULATOR, self.huddle, "run", "--help"))
        launchers = {"openmpi": "mpirun.openmpi", "mpich": "mpiexec.mpich"}
        found = {mpi: name for mpi, name in launchers.items() if shutil.which(name)}
        if not found:
            self.skipTest("no launcher of an MPI here")
        for mpi, launcher in found.items():
            with self.subTest(mpi=mpi):
                program = self.compiled(mpi)
                stats = os.path.join(self.folder, f"{mpi}.json")
                words = ["run", "--set", f"HUDDLE_STATS=json:{stats}", "--", launcher, "-n", "2"]
                output = run(
                    *EMULATOR, self.huddle, *words, *EMULATOR, program, "--brief", **OF_THE_JOB
                )
                self.assertIn("0 failures on 2 ranks", output)
                with open(stats, encoding="utf-8") as file:
                    self.assertRegex(file.read(), r'"handled": [1-9]')

    def compiled(self, mpi):
        program = os.path.join(self.folder, f"reductions-{mpi}")
        wrapper = os.path.join(SOURCE, "tests", "aarch64", "mpicc.sh")
        source = os.path.join(SOURCE, "tests", "mpi", "reductions.c")
        words = [wrapper, mpi, "-std=gnu11", "-O1", "-pthread", source, "-o", program]
        libraries = os.path.join(TOOLS, "lib", "x86_64-linux-gnu")  # libraries of the assembler
        run(*words, HUD_AARCH64=PACKAGES, LD_LIBRARY_PATH=libraries)
        return program


def setUpModule():
    fetch = os.path.join(SOURCE, "tests", "aarch64", "fetch.sh")
    if subprocess.run(["sh", fetch, PACKAGES], check=False).returncode != 0:
        raise unittest.SkipTest("the compiler cannot be had")
