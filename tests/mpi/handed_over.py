# SPDX-License-Identifier: BSD-3-Clause
"""Further cases of what `huddle run` hands to the ranks of other nodes."""

import re
import time

from cases import NODES, OPEN, SPANNING, SPANS, Case

DAEMON = re.compile(r"\b(orted|prted)\b")


def secret_of(pid):
    """Returns the secret in the environment of a process, or None."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            found = re.search(rb"(?:^|\0)HUDDLE_JOB=([^\0]+)", file.read())
    except OSError:
        return None
    return found[1].decode() if found else None


def secret_is_on_no_command_line(job):
    from run import marked

    secret, lines, until = None, set(), time.monotonic() + 60
    while job.process.poll() is None and time.monotonic() < until:
        secret = secret or secret_of(job.process.pid)
        lines |= set(marked(job.mark).values())
        time.sleep(0.05)
    if not secret or not any(map(DAEMON.search, lines)):
        job.complaints.append("no secret or no daemon of another node was seen")
    job.complaints += [f"the secret: {line}" for line in lines if secret and secret in line]


def handled(name, words=(), **more):
    """Makes a case of two nodes whose launcher has these words, too."""
    launch = {mpi: [*NODES[mpi], *words] for mpi in OPEN}
    return Case(
        "nodes",
        name,
        OPEN,
        4,
        ["{bin}/spans", "5000"],
        launch=launch,
        handled=True,
        collectives=SPANNING,
        leaves=("spans nodes",),
        also_passed=("nonblocking not handled", "one rank"),
        **{**SPANS, **more},
    )


HANDED_OVER = [
    handled("handled, with -x", ("-x", "MPI_TEST_CASE")),
    handled("the secret is on no command line", during=secret_is_on_no_command_line),
]
