# SPDX-License-Identifier: BSD-3-Clause
"""
Tests that an installation is complete, finds its own parts after it has been moved, and can be
removed.
"""

import glob
import os
import re
import shutil
import tempfile
import unittest

import installed_links
from commands import run
from paths import BUILD, SOURCE

PROJECT = """cmake_minimum_required(VERSION 3.20)
project(own C)
find_package(huddle REQUIRED)
find_package(Threads REQUIRED)
add_executable(team {source})
target_compile_definitions(team PRIVATE _GNU_SOURCE)
target_link_libraries(team PRIVATE huddle::huddle Threads::Threads)
"""


def install(prefix):
    run("cmake", "--install", BUILD, "--prefix", prefix)


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        first, cls.prefix = (os.path.join(cls.scratch.name, name) for name in ("first", "moved"))
        install(first)
        shutil.move(first, cls.prefix)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def path(self, *names):
        return os.path.join(self.prefix, *names)

    def test_documents(self):
        docs = self.path("share", "doc", "huddle")
        for name in ("README.md", "LICENSE", "CHANGELOG.md", "examples/team.c"):
            self.assertGreater(os.path.getsize(os.path.join(docs, name)), 0)
        lab = os.path.join(docs, "lab")
        found = [os.path.join(folder, name) for folder, _, names in os.walk(docs) for name in names]
        of_product = [path for path in found if not path.startswith(lab)]
        self.assertEqual([], [p for p in of_product if p.endswith((".png", ".svg", ".csv"))])

    def test_links_of_pages(self):
        pages, complaints = installed_links.broken(self.prefix)
        self.assertGreater(pages, 20)
        self.assertEqual([], complaints)

    def test_pages_of_the_product_do_without_the_laboratory(self):
        with tempfile.TemporaryDirectory() as top:
            docs = os.path.join(top, "huddle")
            shutil.copytree(
                self.path("share", "doc", "huddle"), docs, ignore=shutil.ignore_patterns("lab")
            )
            self.assertEqual([], installed_links.broken(docs)[1])

    def test_pages(self):
        found = {os.path.basename(p) for p in glob.glob(self.path("share", "man", "*", "*"))}
        self.assertGreaterEqual(found, {"huddle.1", "huddle-run.1", "huddle-tune.1", "huddle.7"})
        for place in (
            "bash-completion/completions/huddle",
            "zsh/site-functions/_huddle",
            "fish/vendor_completions.d/huddle.fish",
        ):
            self.assertTrue(os.path.isfile(self.path("share", place)), place)

    def test_pkg_config(self):
        folder = os.path.dirname(glob.glob(self.path("lib*", "**", "huddle.pc"), recursive=True)[0])
        words = run("pkg-config", "--cflags", "--libs", "huddle", PKG_CONFIG_PATH=folder).split()
        folders = [os.path.normpath(w[2:]) for w in words if w[:2] in ("-I", "-L")]
        self.assertIn(self.path("include"), folders)
        for place in folders:
            self.assertTrue(place.startswith(self.prefix) and os.path.isdir(place), place)

    def test_cmake_package(self):
        with tempfile.TemporaryDirectory() as own:
            with open(os.path.join(own, "CMakeLists.txt"), "w", encoding="utf-8") as file:
                file.write(PROJECT.format(source=os.path.join(SOURCE, "examples", "team.c")))
            run("cmake", "-S", own, "-B", f"{own}/b", f"-DCMAKE_PREFIX_PATH={self.prefix}")
            run("cmake", "--build", f"{own}/b")
            run(f"{own}/b/team", "2", "10")

    def test_module_file(self):
        tool = glob.glob("/usr/lib/*/modulecmd.tcl") + glob.glob("/usr/share/*/modulecmd.tcl")
        if not tool:
            self.skipTest("no Environment Modules here")
        folder = self.path("share", "modulefiles")
        shown = run("tclsh", tool[0], "sh", "load", "huddle", MODULEPATH=folder)
        changed = re.search(r"^PATH=([^:;]*)", shown, re.MULTILINE)
        self.assertEqual(changed and changed[1], self.path("bin"), shown)

    def test_the_tuning_file_of_the_site_is_read(self):
        place = self.path("etc", "huddle", "tuning.rules")
        os.makedirs(os.path.dirname(place))
        with open(place, "w", encoding="utf-8") as file:
            file.write("what = 1\n")
        nobody = {"HOME": self.scratch.name, "XDG_CONFIG_HOME": ""}
        try:
            own = run(self.path("bin", "huddle"), "info", check=False, **nobody)
            other = run(os.path.join(BUILD, "bin", "huddle"), "info", **nobody)
        finally:
            shutil.rmtree(self.path("etc"))
        self.assertIn(place, own)
        self.assertNotIn(place, other)

    def test_uninstall(self):
        with tempfile.TemporaryDirectory() as top:
            first, prefix = os.path.join(top, "first"), os.path.join(top, "moved")
            install(first)
            shutil.move(first, prefix)
            kept = os.path.join(prefix, "share", "huddle", "of-the-user")
            with open(kept, "w", encoding="utf-8"):
                pass
            run(os.path.join(prefix, "bin", "huddle"), "settings", PYTHONDONTWRITEBYTECODE="")
            run("cmake", "-P", os.path.join(prefix, "share", "huddle", "uninstall.cmake"))
            left = [os.path.join(f, n) for f, _, names in os.walk(prefix) for n in names]
            self.assertEqual(left, [kept])
            folders = [f for f, _, _ in os.walk(prefix) if "huddle" in os.path.basename(f)]
            self.assertEqual(folders, [os.path.dirname(kept)])
