# SPDX-License-Identifier: BSD-3-Clause
"""
Tests that mpi4py's own test suite gives the same results with and without huddle: per rank, the
same tests pass, fail and are skipped.

    suite.py --build BUILD [--python PYTHON] [--full] [--only TEXT]

Needs a Python with mpi4py and numpy (default: BUILD/venv or, of the source tree that ./test builds
in, the environment that it makes); the suite is the source distribution of that version, kept in
BUILD/mpi4py.  Tests that fail without huddle too are the MPI's.  Tests that start other programs,
read files, or call no collective are omitted.
"""

import argparse
import glob
import json
import os
import signal
import subprocess
import sys
import tarfile
import tempfile
import time

import peers
from cases import NODES, Case
from run import front_end, judge_lines

COLLECTIVE = ("test_cco_buf", "test_cco_nb_buf", "test_cco_pr_buf", "test_op")
UNRELATED = (
    "spawn",
    "dynproc",
    "test_io",
    "test_file",
    "util_pool",
    "package",
    "toplevel",
    "doc",
    "mpiapi",
    "mpiabi",
    "ulfm",
)
PAIR = ("ompi4", "mpich5")
QUICK = [(mpi, 2, COLLECTIVE, False) for mpi in PAIR]  # FULL also has them on more ranks
# All modules on as many ranks as most machines have processors for.  With more ranks only the
# modules that call collectives of one communicator: blocking, nonblocking and persistent, also of
# neighbourhoods.
INTRA = (
    "test_cco_buf",
    "test_cco_vec",
    "test_cco_obj",
    "test_cco_nb",
    "test_cco_pr",
    "test_cco_ngh",
    "test_op",
)
FULL = [
    (mpi, ranks, modules, False)
    for ranks, modules in ((1, ()), (2, ()), (3, ("test_cco", "test_op")), (5, INTRA), (8, INTRA))
    for mpi in PAIR
]
# Two nodes (cases.py), where blocking calls are handled.
FULL += [(mpi, 4, INTRA, True) for mpi in (*PAIR, "ompi5") if NODES]
QUICK_SECONDS, FULL_SECONDS = (
    300,
    1500,
)  # maximum for a job; an MPI alone is slow if ranks outnumber processors
# The library that mpi4py opens; the launchers set its folder.
LIBRARY = {"openmpi": {"MPI4PY_MPIABI": "openmpi", "MPI4PY_LIBMPI": "libmpi.so.40"}, "mpich": {}}


def source(python, home):
    """Returns test/main.py of the installed mpi4py's version, or None if it is not available."""
    version = subprocess.run(
        [python, "-c", "import importlib.metadata as m; print(m.version('mpi4py'))"],
        capture_output=True,
        text=True,
    ).stdout.strip()
    script = os.path.join(home, f"mpi4py-{version}", "test", "main.py")
    if not version or os.path.exists(script):
        return script if version else None
    os.makedirs(home, exist_ok=True)
    subprocess.run(
        [
            python,
            "-m",
            "pip",
            "download",
            "-q",
            "--no-deps",
            "--no-binary",
            "mpi4py",
            "-d",
            home,
            "mpi4py==" + version,
        ],
        capture_output=True,
        timeout=400,
    )
    for archive in glob.glob(os.path.join(home, f"mpi4py-{version}.tar.gz")):
        with tarfile.open(archive) as tar:
            tar.extractall(home)
    return script if os.path.exists(script) else None


def run(setting, mpi, ranks, modules, nodes, huddle, folder):
    """
    Returns (exit status or None if too slow, output) of a job.  Its ranks' files are in the folder.
    """
    chosen = [word for module in modules for word in ("-i", module)] + [
        word for module in UNRELATED for word in ("-e", module)
    ]
    launch, env = peers.launcher(setting.wheels, mpi, ranks, False, NODES[mpi] if nodes else ())
    command = ([setting.huddle, "run", "--"] if huddle else []) + launch
    command += [
        setting.python,
        os.path.join(os.path.dirname(os.path.abspath(__file__)), "suite_rank.py"),
        folder,
        setting.script,
        *chosen,
    ]
    env = {
        **os.environ,
        **env,
        **LIBRARY[peers.abi(mpi)],
        "XDG_CACHE_HOME": folder,  # a job does not learn from another one
        "HUDDLE_STATS": f"json:{folder}/stats.json",
        "HUDDLE_NONBLOCKING": "on",  # auto does not cover all MPIs
        "HUDDLE_NODES": "on",  # auto handles only calls with a gain
        "OMPI_MCA_mpi_yield_when_idle": "1",  # ranks may outnumber processors
    }
    job = subprocess.Popen(
        command,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        text = job.communicate(timeout=setting.seconds)[0]
        return job.returncode, text
    except subprocess.TimeoutExpired:
        os.killpg(job.pid, signal.SIGTERM)
        try:
            return None, job.communicate(timeout=20)[0]
        except subprocess.TimeoutExpired:
            os.killpg(job.pid, signal.SIGKILL)
            return None, job.communicate()[0]


def outcomes(folder, ranks):
    """Returns {(rank, test): outcome}."""
    found = {}
    for rank in range(ranks):
        try:
            with open(os.path.join(folder, str(rank))) as file:
                found.update({(rank, line.split()[1]): line.split()[0] for line in file})
        except OSError:
            pass
    return found


def judge(before, after, text, stats, ranks):
    for key in sorted({*before, *after}):
        if before.get(key) != after.get(key):
            yield (
                f"rank {key[0]}: {key[1]} {before.get(key, 'did not run')} without huddle,"
                f" {after.get(key, 'did not run')} with it"
            )
    yield from judge_lines(Case("suite", "", (), ranks), text)
    try:
        with open(stats) as file:
            taken = {name: one["handled"] for name, one in json.load(file)["collectives"].items()}
    except (OSError, ValueError) as error:
        yield f"no statistics: {error}"
        return
    for name in ("allreduce", "alltoall") if ranks > 1 else ():
        if not taken.get(name):
            yield f"{name}: no call was taken ({taken})"


def compare(setting, mpi, ranks, modules, nodes):
    """
    Returns (complaints, a text about the tests).  The complaints are None if there is nothing to
    compare with.
    """
    with (
        tempfile.TemporaryDirectory(prefix="suite-") as plain,
        tempfile.TemporaryDirectory(prefix="suite-") as ours,
    ):
        status, text = run(setting, mpi, ranks, modules, nodes, False, plain)
        before = outcomes(plain, ranks)
        if status is None:
            return None, f"more than {setting.seconds} s without huddle"
        if not before:
            return ["no test ran without huddle"] + text.splitlines()[-8:], ""
        status, text = run(setting, mpi, ranks, modules, nodes, True, ours)
        after = outcomes(ours, ranks)
        bad = list(judge(before, after, text, os.path.join(ours, "stats.json"), ranks))
        if status is None:
            bad.append(f"still running after {setting.seconds} s")
        count = {word: list(after.values()).count(word) for word in sorted(set(after.values()))}
        return bad + (text.splitlines()[-25:] if bad else []), ", ".join(
            f"{n} {word}" for word, n in count.items()
        )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", required=True)
    parser.add_argument("--python")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--only", default="")
    setting = parser.parse_args()
    setting.build, setting.seconds = (
        os.path.abspath(setting.build),
        (FULL_SECONDS if setting.full else QUICK_SECONDS),
    )
    setting.wheels, setting.huddle = (
        os.path.join(setting.build, "peers"),
        os.path.join(setting.build, "bin", "huddle"),
    )
    setting.python = setting.python or os.path.join(setting.build, "venv", "bin", "python")
    setting.script = (
        source(setting.python, os.path.join(setting.build, "mpi4py"))
        if os.path.exists(setting.python)
        else None
    )
    if not setting.script:
        print("skipped: no Python with mpi4py, or no source distribution of its version")
        sys.exit(77)
    failed = skipped = compared = 0
    for mpi, ranks, modules, nodes in FULL if setting.full else QUICK:
        name = f"mpi4py's suite, {ranks} ranks{' on 2 nodes' if nodes else ''} {mpi}"
        start = time.monotonic()
        if (
            setting.only not in name
            or not peers.installed(setting.wheels, mpi)
            or not front_end(setting, mpi)
        ):
            continue
        bad, word = compare(setting, mpi, ranks, modules, nodes)
        if bad is None:
            print(f"{name:46} skipped: {word}", flush=True)
            skipped += 1
            continue
        compared += 1
        print(
            f"{name:46} {'FAILED' if bad else 'ok'} {time.monotonic() - start:6.1f} s  {word}",
            flush=True,
        )
        for line in bad:
            print("    " + line, flush=True)
        failed += bool(bad)
    print(f"{compared - failed} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed else 77 if skipped and not compared else 0)


if __name__ == "__main__":
    main()
