# SPDX-License-Identifier: BSD-3-Clause
"""
Cases of a correct program under a checker: a sanitizer, Valgrind, or the program itself, which
looks at errno (harmless.c).  Nothing may be found that is not found without huddle.
"""

import glob
import os
import re
import subprocess

from cases import ALL, MPICH, NONBLOCKING, OPEN, Case
from wrappers import built, need

COMPILERS, SANITIZERS = ("gcc", "clang"), ("address", "thread", "undefined")
OPTIONS = {
    # There are hundreds of reports about memory that the MPIs themselves do not free.
    "ASAN_OPTIONS": "detect_stack_use_after_return=1:detect_leaks=0",
    "UBSAN_OPTIONS": "halt_on_error=1",
    # Open MPI 5's own shared memory has an address that ThreadSanitizer does not allow.
    "PMIX_MCA_gds": "hash",
}
# Each algorithm is tried in the program's calls, and so is the MPI's own collective.
TRIALS = {"HUDDLE_WISDOM": "on", "HUDDLE_LAB_TRY_ALL": "on"}
# Programs with gcc's ThreadSanitizer crash in MPICH and Open MPI 5, even without huddle.
FAILS_ALONE = {("gcc", "thread"): ("ompi5", "mpich4", "mpich5")}


def mpis_for(compiler, sanitizer, mpis=ALL):
    return tuple(mpi for mpi in mpis if mpi not in FAILS_ALONE.get((compiler, sanitizer), ()))


def sanitized(name, compiler, sanitizer, *words, mpis=ALL, options="", env=None, **more):
    program = f"harmless-{compiler}-{sanitizer}"
    env = {**OPTIONS, "ASAN_OPTIONS": OPTIONS["ASAN_OPTIONS"] + options, **(env or {})}
    return Case(
        "sanitizers",
        f"{name}, {compiler}",
        mpis_for(compiler, sanitizer, mpis),
        2,
        ["{bin}/" + program, *words],
        env=env,
        each=built(program),
        **more,
    )


def without_huddle(job):
    """Runs the same job without huddle, and returns its output."""
    words = [job.huddle, "run", "--"]
    at = job.command.index(words[0])
    assert job.command[at : at + len(words)] == words
    env = {name: value for name, value in job.env.items() if not name.startswith("HUDDLE")}
    done = subprocess.run(
        job.command[:at] + job.command[at + len(words) :],
        env=env,
        cwd=job.folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=job.case.seconds,
        check=False,
    )
    if done.returncode != 0:
        job.complaints.append(f"without huddle: exit status {done.returncode}")
    return (done.stdout + done.stderr).decode(errors="replace")


def blame_nothing(job):
    """Complains about reports of ThreadSanitizer with a function of huddle's."""
    job.process.wait(job.case.seconds)
    reports = re.findall(
        r"^WARNING: ThreadSanitizer: .*?^SUMMARY.*?$", job.text(), re.MULTILINE | re.DOTALL
    )
    libraries = ("libhuddle.so", "mca_coll_huddle.so")
    job.complaints += [
        report.split("\n")[-1] for report in reports if any(name in report for name in libraries)
    ]


def left_in_errno(text):
    return set(re.findall(r"\b([\w ]+ leaves \d+)$", text, re.MULTILINE))


def compare_errno(job):
    """
    Compares errno with several runs without huddle, since some values differ between runs of an
    MPI.
    """
    job.process.wait(job.case.seconds)
    left = left_in_errno(job.text())
    for _ in range(3):
        if left:
            left -= left_in_errno(without_huddle(job))
    job.complaints += [f"with huddle {line}" for line in sorted(left)]


def errno(name, ranks, *words, **more):
    return Case(
        "errno",
        name,
        ALL,
        ranks,
        ["{bin}/harmless", *words],
        during=compare_errno,
        prints=["harmless: passed"],
        **{**NONBLOCKING, **more},
    )


REPORTS = "reports."


def under_valgrind(words):
    need("valgrind")
    log = os.path.join(words["folder"], REPORTS + "%p")
    return ["valgrind", "-q", "--num-callers=40", "--log-file=" + log]


def take_reports(folder):
    """Returns the reports of memcheck, with the innermost functions of each report."""
    found = set()
    for path in glob.glob(os.path.join(folder, REPORTS + "*")):
        with open(path, encoding="utf-8", errors="replace") as file:
            text = re.sub(r"^==\d+== ?", "", file.read(), flags=re.MULTILINE)
        os.remove(path)
        for report in re.findall(r"^\S.*\n(?: +(?:at|by) 0x.*\n)+", text, re.MULTILINE):
            what, *frames = report.rstrip().split("\n")
            names = [re.sub(r"^ +(at|by) 0x\w+: (\S+).*", r"\2", frame) for frame in frames]
            found.add(f"{what}: {' < '.join(names[:6])}")
        found |= set(re.findall(r"^.*WARNING: .*$", text, re.MULTILINE))
    return {re.sub(r"^--\d+-- ", "", report) for report in found}


def compare_reports(job):
    job.process.wait(job.case.seconds)
    found = take_reports(job.folder)
    without_huddle(job)
    found -= take_reports(job.folder)
    job.complaints += [f"with huddle: {report}" for report in sorted(found)]


# Settings by which each byte of an exchange can be pushed into a peer's memory.
PUSHED = {
    "HUDDLE_CMA": "on",
    **{f"HUDDLE_{name}": "cma_write" for name in ("ALLTOALL", "ALLGATHER", "ALLGATHERV", "GATHER")},
}

WATCHED = [
    *[
        sanitized(sanitizer, compiler, sanitizer, prints=["harmless: passed"], **NONBLOCKING)
        for compiler in COMPILERS
        for sanitizer in SANITIZERS
    ],
    *[
        sanitized(
            f"{sanitizer}, trials",
            "clang",
            sanitizer,
            "--often",
            env=TRIALS,
            tried=True,
            prints=["harmless: passed"],
            seconds=240,
            **NONBLOCKING,
        )
        for sanitizer in SANITIZERS
    ],
    *[
        sanitized(
            f"{sanitizer}, threads",
            compiler,
            sanitizer,
            "--threads",
            mpis=mpis,
            prints=["harmless: passed"],
        )
        for compiler in COMPILERS
        for sanitizer, mpis in (("address", ALL), ("thread", MPICH))
    ],
    # ThreadSanitizer reports races among Open MPI's own threads.
    sanitized(
        "thread, threads of Open MPI",
        "clang",
        "thread",
        "--threads",
        mpis=OPEN,
        fails=None,
        during=blame_nothing,
        prints=["harmless: passed"],
    ),
    *[
        sanitized(
            "a fault is found",
            compiler,
            "address",
            "--fault",
            fails=True,
            prints=["ERROR: AddressSanitizer: heap-buffer-overflow", "WRITE of size"],
        )
        for compiler in COMPILERS
    ],
    # MPICH 5 frees all memory that it allocates.
    *[
        sanitized(
            "no leaks",
            compiler,
            "address",
            mpis=("mpich5",),
            options=":detect_leaks=1",
            prints=["harmless: passed"],
        )
        for compiler in COMPILERS
    ],
    errno("2 ranks", 2),
    errno("2 ranks, trials", 2, "--often", env=TRIALS, tried=True),
    errno("4 ranks, late", 4, "--late", seconds=180),
    errno("4 ranks, late, asleep", 4, "--late", env={"HUDDLE_WAIT": "sleep"}, again=True),
    Case(
        "valgrind",
        "memcheck",
        ("ompi4", "mpich4"),
        2,
        ["{bin}/harmless"],
        each=under_valgrind,
        during=compare_reports,
        prints=["harmless: passed"],
        seconds=240,
        **NONBLOCKING,
    ),
    Case(
        "valgrind",
        "memcheck, trials",
        ("ompi4", "mpich4"),
        2,
        ["{bin}/harmless", "--often"],
        env=TRIALS,
        tried=True,
        each=under_valgrind,
        during=compare_reports,
        prints=["harmless: passed"],
        seconds=240,
        **NONBLOCKING,
    ),
    Case(
        "valgrind",
        "memcheck, pushes",
        ("ompi4", "mpich4"),
        2,
        ["{bin}/harmless"],
        env=PUSHED,
        each=under_valgrind,
        during=compare_reports,
        prints=["harmless: passed"],
        says=[
            rf"HUDDLE_{name}=cma_write does not serve 2 ranks: the ranks cannot reach each other"
            for name in ("ALLTOALL", "ALLGATHER", "ALLGATHERV", "GATHER")
        ],
        seconds=240,
        again=True,
    ),
]
