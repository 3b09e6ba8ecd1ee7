# SPDX-License-Identifier: BSD-3-Clause
"""
Tests that the recipes of packages name existing versions, files, options of the build and scripts.
"""

import fnmatch
import os
import re
import shutil
import subprocess
import sys
import tempfile
import types
import unittest

from paths import BUILD, SOURCE

DIRECTORIES = {  # values of RPM's macros, for a prefix of /usr
    "_bindir": "usr/bin",
    "_libdir": "usr/lib",
    "_libexecdir": "usr/libexec",
    "_datadir": "usr/share",
    "_docdir": "usr/share/doc",
    "_mandir": "usr/share/man",
    "_includedir": "usr/include",
    "name": "huddle",
}


def read(*names):
    with open(os.path.join(SOURCE, *names), encoding="utf-8") as file:
        return file.read()


def version():
    return re.search(r"project\(huddle VERSION ([0-9.]+)", read("CMakeLists.txt"))[1]


def installed():
    """Returns the files of an installation below /usr, relative to the root."""
    with tempfile.TemporaryDirectory() as root:
        subprocess.run(
            ["cmake", "--install", BUILD, "--prefix", "/usr"],
            env={**os.environ, "DESTDIR": root},
            stdout=subprocess.DEVNULL,
            check=True,
        )
        return [
            os.path.relpath(os.path.join(folder, name), root)
            for folder, folders, names in os.walk(root)
            for name in names + [f for f in folders if os.path.islink(os.path.join(folder, f))]
        ]


def below(path, pattern):
    """Reports whether the pattern matches the file or a folder above it."""
    parts = path.split("/")
    return any(
        fnmatch.fnmatch("/".join(parts[:n]), pattern) and pattern.count("/") == n - 1
        for n in range(1, len(parts) + 1)
    )


class Fake(dict):
    """A record of the calls of a Spack recipe to its directives."""

    def __getattr__(self, name):
        def directive(*words, **more):
            self.setdefault(name, []).append((words, more))
            return lambda function: function

        return directive


class Recipes(unittest.TestCase):
    def test_all_recipes_have_the_same_version(self):
        major, minor, patch = version().split(".")
        header = read("include", "huddle", "huddle.h")
        for name, value in (("MAJOR", major), ("MINOR", minor), ("PATCH", patch)):
            self.assertIn(f"#define HUD_VERSION_{name} {value}\n", header)
        self.assertIn(f"\nVersion:        {version()}\n", read("packaging", "rpm", "huddle.spec"))
        self.assertIn(f"huddle ({version()})", read("packaging", "debian", "changelog"))
        self.assertIn(f'version("{version()}")', read("packaging", "spack", "package.py"))
        self.assertIn(f"## {version()} ", read("CHANGELOG.md"))

    def check_lists(self, lists, left_out):
        """
        Checks that each file is in a single package, or left out.  `lists` is package -> (patterns,
        exceptions).
        """
        files = installed()
        for path in files:
            owners = [
                name
                for name, (patterns, exceptions) in lists.items()
                if any(below(path, p) for p in patterns)
                and not any(below(path, p) for p in exceptions)
            ]
            out = any(below(path, p) for p in left_out)
            self.assertTrue(len(owners) == 1 or out, f"{path}: in {owners or 'no package'}")
        without = (
            () if os.path.isdir(os.path.join(SOURCE, "lab")) else ("huddle-lab.install", "lab")
        )
        for name, (patterns, _) in lists.items():
            for pattern in patterns if name not in without else ():
                self.assertTrue(any(below(path, pattern) for path in files), f"{name}: {pattern}")

    def test_debian_packages_have_every_file_once(self):
        folder = os.path.join(SOURCE, "packaging", "debian")
        left_out = read("packaging", "debian", "not-installed").split()
        lists = {}
        for name in os.listdir(folder):
            if name.endswith(".install"):
                lines = read("packaging", "debian", name).splitlines()
                # This build's libraries are in lib/, those of a package in lib/<architecture>/.
                patterns = [line.split()[0].replace("usr/lib/*/", "usr/lib/") for line in lines]
                lists[name] = patterns, []
        self.assertEqual(
            set(re.findall(r"^Package: (\S+)", read("packaging", "debian", "control"), re.M)),
            {name.removesuffix(".install") for name in lists},
        )
        self.check_lists(lists, left_out)

    def test_rpm_packages_have_every_file_once(self):
        spec = read("packaging", "rpm", "huddle.spec")
        lists = {}
        for name, body in re.findall(
            r"^%files ?(\S*)\n(.*?)(?=^%files|^%changelog)", spec, re.M | re.S
        ):
            patterns, exceptions = [], []
            for line in body.split("\n"):
                path = re.sub(r"%\{(\w+)\}", lambda m: DIRECTORIES[m[1]], line)
                path = re.sub(r"^%(doc|exclude|dir) ", "", path)
                path = path.replace(".1*", ".1").replace(".7*", ".7")
                if path and not re.match(r"%(dir|license|if|endif)\b", line):
                    (exceptions if line.startswith("%exclude") else patterns).append(path)
            lists[name or "huddle"] = patterns, exceptions
        left_out = [
            "usr/share/huddle/installed-files",
            "usr/share/huddle/uninstall.cmake",
            "usr/share/modulefiles",
            "usr/share/doc/huddle/LICENSE",
        ]
        self.check_lists(lists, left_out)

    def test_rpm_spec(self):
        if not shutil.which("rpmspec"):
            self.skipTest("no rpmspec here (Debian: rpm)")
        spec = os.path.join(SOURCE, "packaging", "rpm", "huddle.spec")
        names = ["huddle", "huddle-devel", "huddle-lab", "huddle-libs", "huddle-mpich"]
        for words, more in (((), []), (("--with", "openmpi"), ["huddle-openmpi"])):
            command = ["rpmspec", *words, "-q", "--qf", "%{name}\n", spec]
            told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            self.assertEqual(names + more, sorted(told.split()))

    def spack(self, *wanted):
        """Returns the options that Spack's recipe gives to CMake, for these variants."""
        fake = Fake()
        package = types.ModuleType("spack.package")
        names = ("license", "version", "variant", "depends_on", "conflicts", "run_after")
        vars(package).update({name: getattr(fake, name) for name in names})
        package.on_package_attributes = fake.on_package_attributes
        package.Executable = None

        class Spec(dict):
            def __contains__(self, word):
                return word.lstrip("+") in wanted if word.startswith("+") else word in dict(self)

        class CMakePackage:
            def define(self, name, value):
                return f"-D{name}={value}"

            def define_from_variant(self, name, variant):
                return self.define(name, variant in wanted)

        package.CMakePackage = CMakePackage
        sys.modules["spack"], sys.modules["spack.package"] = types.ModuleType("spack"), package
        module = {}
        try:
            exec(compile(read("packaging", "spack", "package.py"), "package.py", "exec"), module)
        finally:
            del sys.modules["spack"], sys.modules["spack.package"]
        one = types.SimpleNamespace
        series = one(up_to=lambda n: ".".join(["5", "0"][:n]))
        recipe = module["Huddle"]()
        recipe.spec = Spec(
            openmpi=one(version=series, prefix=one(include="/openmpi/include")),
            mpich=one(prefix=one(include="/mpich/include")),
        )
        variants = {words[0] for words, _ in fake["variant"]}
        self.assertGreaterEqual(variants, {"openmpi", "mpich"} | set(wanted))
        for words, more in fake["depends_on"]:
            if "when" in more:
                self.assertIn(more["when"].lstrip("+"), variants, words)
        return recipe.cmake_args()

    def test_spack(self):
        with open(os.path.join(BUILD, "CMakeCache.txt"), encoding="utf-8") as file:
            known = set(re.findall(r"^(HUD_\w+):", file.read(), re.M))
        args = self.spack("openmpi", "mpich", "lab")
        self.assertIn("-DHUD_OPENMPI_5_0_INCLUDE=/openmpi/include", args)
        self.assertIn("-DHUD_OPENMPI_4_1_INCLUDE=none", args)
        self.assertIn("-DHUD_MPICH_INCLUDE=/mpich/include", args)
        self.assertIn("-DHUD_LAB=True", args)
        for arg in args:
            self.assertIn(re.match(r"-D(\w+)=", arg)[1], known)
        named = [arg for arg in self.spack() if "_INCLUDE" in arg]
        self.assertEqual([f"-DHUD_OPENMPI_{one}_INCLUDE=none" for one in ("4_1", "5_0")], named)

    def test_containers(self):
        for name in ("Dockerfile", "huddle.def"):
            text = read("packaging", "containers", name)
            scripts = re.findall(r"/source/(\S+\.sh)", text)
            self.assertTrue(scripts)
            for script in scripts:
                self.assertTrue(os.access(os.path.join(SOURCE, script), os.X_OK), script)
        named = re.findall(r'HUD_PACKAG(?:ES|ERS)="([^"]*)"', read(".ci", "prepare.sh"))
        wanted = {name for names in named for name in names.split()}
        script = read("packaging", "containers", "install.sh")
        packages = re.search(r"--no-install-recommends (.*?)\nbuild=", script, re.S)[1]
        self.assertEqual(set(), set(packages.replace("\\\n", " ").split()) - wanted)
