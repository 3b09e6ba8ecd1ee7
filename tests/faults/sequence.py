# SPDX-License-Identifier: BSD-3-Clause
"""
Reads one rank's file (points.h): its sites and how often each was called, its teams, the results of
their calls, and which call failed.
"""

import collections
import functools
import os
import random
import re
import subprocess
from errno import (
    EACCES,
    EADDRINUSE,
    EAGAIN,
    EBUSY,
    ECONNREFUSED,
    EFAULT,
    EINTR,
    EINVAL,
    EIO,
    EMFILE,
    ENAMETOOLONG,
    ENFILE,
    ENOBUFS,
    ENOENT,
    ENOMEM,
    ENOSPC,
    ENOSYS,
    EOPNOTSUPP,
    EPERM,
    ESRCH,
    ETOOMANYREFS,
)

PARTIAL = 0  # the call ends early, with a part of the requested bytes

# The errors of each kind of call.  Kinds that are not listed fail with ENOMEM.
ERRORS = {
    "socket": (EMFILE, ENFILE, EPERM),
    "bind": (EADDRINUSE, EPERM),
    "connect": (EINTR, EAGAIN, EPERM),
    "sendmsg": (EAGAIN, EINTR, ENOBUFS, ECONNREFUSED, ETOOMANYREFS, EPERM),
    "recvmsg": (EAGAIN, EINTR, EMFILE, PARTIAL, EPERM),
    "poll": (EINTR, ENOMEM),
    "setsockopt": (EPERM,),
    "getsockname": (ENOBUFS,),
    "memfd_create": (EMFILE, ENOSYS, EPERM),
    "ftruncate": (EINTR, EPERM),
    "fallocate": (EINTR, ENOSPC, ENOMEM, EOPNOTSUPP),
    "fcntl": (EPERM, EBUSY),
    "getlk": (EINTR, ENOMEM),
    "setlk": (EINTR, EPERM, ENOMEM),
    "dupfd": (EMFILE,),
    "mmap": (ENOMEM, EPERM),
    "madvise": (ENOMEM, EINVAL, EAGAIN),
    "mbind": (EPERM, ENOMEM),
    "move_pages": (ENOSYS, EPERM),
    "open": (EMFILE, ENFILE, ENOENT, EACCES),
    "fopen": (EMFILE, ENOENT),
    "read": (EIO, EINTR, PARTIAL),
    "fgets": (EIO,),
    "fscanf": (EIO,),
    "getmntent_r": (EIO,),
    "stat": (ENOMEM, EACCES),
    "fstat": (ENOMEM,),
    "access": (EACCES,),
    "getrandom": (EINTR, ENOSYS, PARTIAL),
    "prctl": (EPERM,),
    "pthread_create": (EAGAIN,),
    "sched_getaffinity": (EPERM, EINVAL),
    "getcpu": (ENOSYS,),
    "getrlimit": (EPERM,),
    "gethostname": (ENAMETOOLONG,),
    "sysconf": (EINVAL,),
    "process_vm_readv": (EPERM, ESRCH, EFAULT, PARTIAL),
    "process_vm_writev": (EPERM, ESRCH, EFAULT, PARTIAL),
    "syscall": (EINTR, EAGAIN, ENOSYS, EPERM),
}
PASSING = (EINTR, EAGAIN, PARTIAL)  # errors that do not last
REPEATS = 4  # calls of a site that the quick tests try

# Kinds whose lasting failure leaves the MPI itself, or the kernel, without memory.
PRIVATE = (
    "getlk",
    "malloc",
    "calloc",
    "realloc",
    "aligned_alloc",
    "posix_memalign",
    "strdup",
    "asprintf",
)

# Allocations for a rank's own buffers: (kind, calling function).  The other ranks cannot know of
# their failure, so the call ends with an error, as the MPI's own call may.
OWN = (("malloc", "hud_message_open"), ("aligned_alloc", "hud_op_open|hud_local_open"))

# Allocations for a rank's own request, before the call has begun: the request, its stack, the
# copies of its arrays (saved.h), memory for blocks, the types that it keeps.
REQUEST = (
    ("calloc", "hud_request_create|hud_request_take|hud_fiber_task_create"),
    ("malloc", r"handled_i\w+|wrap_I\w+|hud_request_take|hud_request_furnish"),
    ("malloc", "hud_per_rank_make|hud_call_scratch"),
    ("realloc", "hud_request_hold_type|hud_request_keep"),
    ("mmap|mprotect", "hud_fiber_init"),
)

Point = collections.namedtuple("Point", "name error forever")


class Rank:
    """The file of one rank."""

    def __init__(self, folder, number):
        self.failed, self.ended, self.contexts = [], False, []
        self.sites, self.teams, self.calls = {}, {}, collections.defaultdict(list)
        try:
            with open(os.path.join(folder, f"rank.{number}"), encoding="utf-8") as file:
                for line in file:
                    self.take(*line.split())
        except OSError:
            pass

    def take(self, kind, *words):
        if kind == "site":
            self.sites[words[0]] = (int(words[1]), int(words[2]))
        elif kind == "team":
            self.teams[int(words[0])] = tuple(map(int, words[1:]))
        elif kind == "call":
            self.calls[int(words[0])].append((words[1], int(words[2])))
        elif kind == "failed":
            self.failed.append(words[0])
        elif kind == "context":
            self.contexts.append(int(words[0]))
        self.ended = self.ended or kind == "end"


def points(rank, full, seed):
    """
    Returns the points of a rank's clean run.  Unless `full`, the seed chooses among the many calls
    of a site and the ways to fail.
    """
    draw = random.Random(seed)
    found = []
    for site, (calls, _) in rank.sites.items():
        errors = ERRORS.get(site.split("@")[0], (ENOMEM,))
        numbers = range(1, calls + 1)
        if not full and calls > REPEATS:
            numbers = sorted({1, calls, *draw.sample(numbers, REPEATS - 2)})
        for n in numbers:
            found += [
                Point(f"{site}#{n}", error, False)
                for error in (errors if full else [draw.choice(errors)])
            ]
        lasting = [error for error in errors if error not in PASSING]
        # Without dlsym no wrapper finds the function that it wraps.
        if lasting and not site.startswith("dlsym@"):
            found.append(Point(f"{site}#1", lasting[0] if full else draw.choice(lasting), True))
    return found


@functools.cache
def symbols(library):
    """Returns (address, name) of a library's functions, in ascending order."""
    listed = subprocess.run(
        ["nm", "-C", "--defined-only", library], capture_output=True, text=True, check=False
    ).stdout
    rows = (line.split(maxsplit=2) for line in listed.splitlines())
    return sorted((int(row[0], 16), row[2]) for row in rows if len(row) == 3 and row[1] in "tTwW")


def is_own(point, function, nonblocking):
    return any(
        re.fullmatch(k, point.name.split("@")[0]) and re.fullmatch(f, function)
        for k, f in (*OWN, *(REQUEST if nonblocking else ()))
    )


def caller(point, libraries):
    """Returns the function that makes the call of a point, as far as the library's symbols show."""
    found = re.match(r".*@(.*)\+0x([0-9a-f]+)", point)
    library = libraries.get(found[1]) if found else None
    before = (
        [name for address, name in symbols(library) if address < int(found[2], 16)]
        if library
        else []
    )
    return before[-1] if before else "?"


def is_named(point, libraries, texts):
    """Reports whether a point's name contains one of these texts; None accepts any name."""
    name = f"{point.name} {caller(point.name, libraries)}"
    return texts is None or any(text in name for text in texts)
