# SPDX-License-Identifier: BSD-3-Clause
"""
Tests that no test reads or writes the user's cache folder, where programs with huddle keep what
they have learned (HUDDLE_WISDOM).

    cache_untouched.py --build BUILD [--wheels FOLDER]

A part of each harness that starts such programs runs with a home folder of its own, which must stay
empty, and without XDG_CACHE_HOME.  A program without a harness must write there, since otherwise
the test proves nothing.
"""

import argparse
import importlib.util
import os
import subprocess
import sys
import tempfile

import peers
from run import front_end

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
LIMIT_S = 300
ATTEMPTS = 4
LEARNS = "30000"  # calls, after which remembered.c has decided a cell
QUICKSTART = "import sys; from jobs import Jobs; Jobs(sys.argv[1]).run(sys.argv[2:], True)"


def harnesses(build, wheels, program):
    """Yields (name, command, more of the environment).  program: a job that learns."""
    python = [sys.executable, "-B"]
    case = ["--brief", "--only", "wisdom: reductions, 4 ranks", "wisdom"]
    words = ["--build", build, "--wheels", wheels]
    yield "run.py", [*python, f"{HERE}/run.py", *words, *case], {}
    yield "remembered.py", [*python, f"{HERE}/remembered.py", *words, "ompi4", "mpich4"], {}
    yield "examples.py", [*python, f"{HERE}/examples.py", SOURCE, build, "c"], {}
    faults = os.path.join(SOURCE, "tests", "faults", "run.py")
    yield "faults", [*python, faults, "--build", build, "--most", "2", "team"], {}
    for test in ("learn", "wisdom_file"):
        yield test, [os.path.join(build, "test", f"test_{test}")], {}
    path = os.pathsep.join([SOURCE, os.path.join(SOURCE, "examples", "programs")])
    yield "quickstart", [*python, "-c", QUICKSTART, build, *program], {"PYTHONPATH": path}
    bench = ["bench", "allreduce", "--bytes", "8", "--ranks", "2", "--launches", "1"]
    bench += ["--against", "none", "--mpi", "ompi4", "--bind", "none", "--shots", LEARNS]
    yield "huddle bench", [os.path.join(build, "bin", "huddle"), *bench], {}
    if all(importlib.util.find_spec(name) for name in ("pytest", "pytest_timeout")):
        pytest = [*python, "-m", "pytest", "-k", "every_way_to_measure or without_a_launcher"]
        yield "pytest", [*pytest, "tests/loader", "tests/bench"], {"HUD_BUILD": build}


def run(command, home, **more):
    """Returns (exit status, output, the files below the home folder)."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("HUDDLE")}
    env.pop("XDG_CACHE_HOME", None)
    done = subprocess.run(
        command,
        cwd=SOURCE,
        env={**env, "HOME": home, **more},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    left = [os.path.join(at, name) for at, _, names in os.walk(home) for name in names]
    return done.returncode, done.stdout, sorted(left)


def main():
    parser = argparse.ArgumentParser(description=__doc__.strip().split("\n\n")[0])
    parser.add_argument("--build", required=True)
    parser.add_argument("--wheels")
    options = parser.parse_args()
    build = os.path.abspath(options.build)
    wheels = os.path.abspath(options.wheels or os.path.join(build, "peers"))
    options.build = build
    if not peers.installed(wheels, "ompi4") or not front_end(options, "ompi4"):
        print("skipped: no Open MPI 4, or huddle was built without its front end")
        return 77
    launch, as_root = peers.launcher(wheels, "ompi4", 2)
    os.environ.update(as_root)
    program = [*launch, os.path.join(build, "tests", "mpi", "openmpi", "remembered"), LEARNS]
    failed = 0
    with tempfile.TemporaryDirectory(prefix="cache-untouched-") as home:
        alone = [os.path.join(build, "bin", "huddle"), "run", "--", *program]
        for _ in range(ATTEMPTS):  # trials wait on a busy machine, and a run may decide nothing
            status, output, left = run(alone, home, HUDDLE_WISDOM="on")
            if status != 0 or left:
                break
        if status != 0 or not any("/.cache/huddle/wisdom-openmpi-" in path for path in left):
            print(f"a program alone: status {status}, left {left}\n{output}")
            return 1
    for name, command, more in harnesses(build, wheels, program):
        with tempfile.TemporaryDirectory(prefix="cache-untouched-") as home:
            status, output, left = run(command, home, **more)
        bad = status not in (0, 77) or left
        print(f"{name:16} {'FAILED' if bad else 'ok' if status == 0 else 'skipped'}", flush=True)
        if bad:
            print(f"    status {status}, left {left}\n{output[-4000:]}")
        failed += bool(bad)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
