# SPDX-License-Identifier: BSD-3-Clause
"""Tests that an installation works, also after it has been moved."""

import glob
import json
import os
import re
import shutil
import tempfile
import unittest

from commands import run
from paths import BUILD, SOURCE


class Install(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        first, self.prefix = (
            os.path.join(self.scratch.name, "first"),
            os.path.join(self.scratch.name, "moved"),
        )
        run("cmake", "--install", BUILD, "--prefix", first)
        shutil.move(first, self.prefix)

    def tearDown(self):
        self.scratch.cleanup()

    def test_command(self):
        huddle = os.path.join(self.prefix, "bin", "huddle")
        facts = json.loads(run(huddle, "info", "--json"))
        self.assertGreater(facts["team"]["members"][0]["handled"], 0)
        for line in run(huddle, "run", "--", "env").split("\n"):
            if line.startswith("LD_PRELOAD="):
                self.assertTrue(line.startswith(f"LD_PRELOAD={self.prefix}/"), line)
                self.assertTrue(os.path.isfile(line.partition("=")[2].split(":")[0]))

    def test_the_front_ends_of_the_build_are_installed(self):
        def names(top):
            return sorted(
                os.path.relpath(p, top)
                for p in glob.glob(f"{top}/**/*.so*", recursive=True)
                if "/huddle/" in p or "/libhuddle" in p
            )

        build_libs = os.path.dirname(glob.glob(f"{BUILD}/lib*/**/libhuddle.so", recursive=True)[0])
        installed_libs = os.path.dirname(
            glob.glob(f"{self.prefix}/lib*/**/libhuddle.so", recursive=True)[0]
        )
        self.assertEqual(names(build_libs), names(installed_libs))

    def test_programs_load_no_library_that_few_ranks_need(self):
        def needed(path):
            return set(re.findall(r"NEEDED.*\[(.*?)\.so", run("readelf", "-d", path)))

        late = {"libhwloc", "libjansson", "libnuma", "libudev", "libstdc++"}
        found = glob.glob(f"{self.prefix}/lib*/**/*huddle*.so", recursive=True)
        few = {path for path in found if path.endswith("/libhuddle-topology.so")}
        self.assertIn("libhwloc", needed(*few))  # what those ranks load
        self.assertGreaterEqual(len(set(found) - few), 2)
        for path in set(found) - few:
            self.assertFalse(needed(path) & late, path)

    def test_a_program_builds_with_pkg_config(self):
        pkgconfig = os.path.dirname(glob.glob(f"{self.prefix}/**/huddle.pc", recursive=True)[0])
        flags = run(
            "pkg-config",
            f"--define-variable=prefix={self.prefix}",
            "--cflags",
            "--libs",
            "huddle",
            PKG_CONFIG_PATH=pkgconfig,
        ).split()
        program = os.path.join(self.scratch.name, "team")
        run(
            os.environ.get("CC", "cc"),
            "-std=gnu11",
            "-D_GNU_SOURCE",
            os.path.join(SOURCE, "examples", "team.c"),
            "-o",
            program,
            *flags,
            "-pthread",
        )
        run(program, LD_LIBRARY_PATH=os.path.dirname(pkgconfig))
