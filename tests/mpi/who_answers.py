# SPDX-License-Identifier: BSD-3-Clause
"""
Checks the answers of `huddle who` about a running job, as case `during`.  The program
delaying_ranks.c has a rank that sleeps, then a rank that is stopped.
"""

import os
import re
import signal
import subprocess
import time

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src")
RANKS, SECONDS = 4, 60


class Unexpected(Exception):
    """An answer that has something wrong, or lacks something."""


def until(job, found):
    """
    Returns the result of `found` once it is not empty, or None if the job ends or the time is over.
    """
    end = time.monotonic() + SECONDS
    while time.monotonic() < end and job.process.poll() is None:
        answer = found()
        if answer:
            return answer
        time.sleep(0.1)
    return None


def who(job, pid):
    answer = subprocess.run(
        [job.huddle, "who", str(pid)], capture_output=True, text=True, check=False, timeout=SECONDS
    )
    return answer.stdout + answer.stderr


def labels_fit(text):
    """
    Reports whether each named place in the source has the label.  True if the source is not here.
    """
    for label, file, line in re.findall(r" at (\w+) \(([\w/.]+):(\d+)\)", text):
        if os.path.isdir(SOURCE):
            with open(os.path.join(SOURCE, file), encoding="utf-8") as source:
                if f"/* {label} */" not in source.readlines()[int(line) - 1]:
                    return False
    return True


def expect(job, pids, asked, head, late, how):
    """
    Raises Unexpected unless an answer names the call, the ranks waiting in the call, and the late
    rank.
    """
    waits = [
        rf"  rank {rank} \(process {pid}\) has waited [0-9.]+ s at [A-Z]+\w* \(alg/\S+:\d+\) for a "
        for rank, pid in pids.items()
        if rank != late
    ]
    wanted = [
        head + "\n",
        *waits,
        rf"  not waiting in this call: rank {late} \(process {pids[late]}\): {how}",
    ]
    last = ""

    def asks():
        nonlocal last
        last = who(job, asked)
        return all(re.search("(?m)^" + pattern, last) for pattern in wanted) and last

    text = until(job, asks)
    if text is None:
        raise Unexpected(f"'huddle who {asked}' lacks one of {wanted}:\n{last}")
    elif not labels_fit(text):
        raise Unexpected(f"labels that the source does not have:\n{text}")
    elif text.count("has waited") != RANKS - 1 or text.count("not waiting") != 1:
        raise Unexpected(f"'huddle who {asked}' names other ranks besides:\n{text}")


def ask(job, pids):
    launcher = job.process.pid
    for asked in (launcher, pids[0], pids[1]):
        expect(
            job,
            pids,
            asked,
            r"MPI_COMM_WORLD \(4 ranks\): call \d+, allreduce of 1 MB \(slices\)",
            1,
            "(asleep|running)",
        )
    os.kill(pids[1], signal.SIGUSR1)
    for asked in (launcher, pids[3], pids[2]):
        expect(
            job,
            pids,
            asked,
            r"MPI_COMM_WORLD \(4 ranks\): call \d+, barrier \(groups\)",
            2,
            "stopped by a signal",
        )
    os.kill(pids[2], signal.SIGCONT)


def ask_of_late(job):
    pids = until(
        job,
        lambda: (
            len(found := dict(re.findall(r"rank (\d) is process (\d+)\.", job.text()))) == RANKS
            and found
        ),
    )
    try:
        if not pids:
            raise Unexpected("the ranks do not say which processes they are")
        ask(job, {int(rank): int(pid) for rank, pid in pids.items()})
    except Unexpected as what:
        job.complaints.append(str(what))
        if job.process.poll() is None:
            os.killpg(job.process.pid, signal.SIGKILL)
