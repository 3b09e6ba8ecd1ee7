# SPDX-License-Identifier: BSD-3-Clause
"""
Builds all of the product in a copy of the tree that has no lab/, and runs its tests.

usage: alone.py SOURCE SCRATCH [--full]

With --full these are all tests of ./test, and all cases of the CLI.  Otherwise they are what is
quick: lints, units, properties, the corpora of fuzzing, the race checker, examples, one program
under each of Debian's MPIs, the tests of other tests' tools, and the tests of the CLI without those
that take long, measure, or record programs under MPIs.

SCRATCH is in the build folder.  The copy uses what has been fetched there, such as MPIs.
"""

import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", name) for name in ("lint", "additions")]
import copied

MOST_SETTINGS = 60
ROOMS = "lint,unit,property,fuzz,sim,cli,mpi"  # folders of tests/
FETCHED = ("venv", "peers", "ompi-5.0")  # folders that .ci/install.sh and mpi_wheels make
LONG = "test_record.py"  # runs under MPIs; in tests/cli
FAST = (  # a short build counts
    "-DHUD_KERNELS=-O0",
    "-DCMAKE_C_FLAGS_RELEASE=-O1 -DNDEBUG",
    "-DCMAKE_CXX_FLAGS_RELEASE=-O0",
)


def run(copy, *command):
    """Returns the output of a command.  Ends the test with that output if the command fails."""
    print("$", *command, flush=True)
    out, both = subprocess.PIPE, subprocess.STDOUT
    done = subprocess.run(command, cwd=copy, stdout=out, stderr=both, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{done.stdout}\nstatus {done.returncode}")
    return done.stdout


def try_library(copy):
    huddle = os.path.join("build", "bin", "huddle")
    rows = json.loads(run(copy, huddle, "settings", "--json"))["settings"]
    assert len(rows) <= MOST_SETTINGS, f"{len(rows)} settings"
    algorithms = json.loads(run(copy, "build/libexec/huddle/query", "info", "algorithms"))
    baselines = [row["name"] for row in algorithms if row["baseline"]]
    assert not baselines, f"baselines in the library: {baselines}"
    print(f"{len(algorithms)} algorithms, {len(rows)} settings of users")


def share_fetched(copy, scratch):
    """Links the fetched folders into the copy, so that nothing is fetched again."""
    os.makedirs(os.path.join(copy, "build"))
    for name in FETCHED:
        path = os.path.join(os.path.dirname(scratch), name)
        if os.path.exists(path):
            os.symlink(path, os.path.join(copy, "build", name))


def main(source, scratch, *words):
    copy = copied.make(source, scratch, without="lab/")
    assert not os.path.exists(os.path.join(copy, "lab"))
    full = "--full" in words
    if full:
        share_fetched(copy, scratch)
    options = () if full else (*FAST, f"-DHUD_TEST_ONLY={ROOMS}")
    cmake = ("cmake", "-S", ".", "-B", "build", "-G", "Ninja", "-DHUD_WERROR=ON")
    run(copy, *cmake, f"-DHUD_TEST_PYTHON={sys.executable}", *options)
    run(copy, "cmake", "--build", "build")
    try_library(copy)
    ctest = ("ctest", "--test-dir", "build", "-j", str(os.cpu_count()), "--output-on-failure")
    ctest = (*ctest, "--no-tests=error")
    if full:
        print(run(copy, *ctest, "-C", "ci"))
        print(run(copy, *ctest, "-C", "full", "-R", "^cli(_measured)?_full$", "-FA", "."))
        return
    print(run(copy, *ctest, "-L", "^(quick|sim|fuzz)$", "-LE", "^long$"))
    print(run(copy, *ctest, "-R", "^selftests$", "-FA", "."))
    pytest = (sys.executable, "-B", "-m", "pytest", "-q", "-n", str(min(8, os.cpu_count())))
    words = ("--dist", "loadscope", "-m", "not serial", f"--ignore=tests/cli/{LONG}", "tests/cli")
    os.environ["HUD_BUILD"] = os.path.join(copy, "build")
    print(run(copy, *pytest, *words))


if __name__ == "__main__":
    main(*map(os.path.abspath, sys.argv[1:3]), *sys.argv[3:])
