# SPDX-License-Identifier: BSD-3-Clause
"""
The contents of one rank's file (points.h): its sites and how often each was called, its teams, the
results of their calls, and which call failed.
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

PARTIAL = 0  # the call ends early, with a part of what was asked for

# How the calls of a kind fail; kinds that are not listed fail because there is no memory.
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
PASSING = (EINTR, EAGAIN, PARTIAL)  # these do not go on for ever
REPEATS = 4  # of a site's calls in the quick tests

# Kinds of which a lasting failure leaves the MPI itself, or the kernel, without memory.
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

# What a rank needs for its own buffers only: (kind, calling function).  Others cannot know, so the
# call ends with an error, as the MPI's own may.
OWN = (("malloc", "hud_message_open"), ("aligned_alloc", "hud_op_open|hud_local_open"))

# And for its own request, before the call has begun: the request, its stack, the copies of its
# arrays (saved.h), room for blocks, the types that it keeps.
REQUEST = (
    ("calloc", "hud_request_create|hud_request_take|hud_strand_create"),
    ("malloc", r"handled_i\w+|wrap_I\w+|hud_request_take|hud_request_furnish"),
    ("malloc", "hud_per_rank_make|hud_call_scratch"),
    ("malloc", r"operator new\(.*"),  # of a fiber
    ("realloc", "hud_request_hold_type|hud_request_keep"),
    ("mmap|mprotect", "hud_fiber_create"),
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
    The points of a rank's clean run: all, or of what a site calls often and of the ways to fail
    some that the seed chooses.
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
        if lasting and not site.startswith(
            "dlsym@"
        ):  # without which no wrapper finds what it wraps
            found.append(Point(f"{site}#1", lasting[0] if full else draw.choice(lasting), True))
    return found


@functools.lru_cache(maxsize=None)
def symbols(library):
    """(address, name) of a library's functions, ascending."""
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
    """The function that makes the call of a point, as far as the library tells."""
    found = re.match(r".*@(.*)\+0x([0-9a-f]+)", point)
    library = libraries.get(found[1]) if found else None
    before = (
        [name for address, name in symbols(library) if address < int(found[2], 16)]
        if library
        else []
    )
    return before[-1] if before else "?"


def is_named(point, libraries, texts):
    """By one of these texts; None: by any."""
    name = f"{point.name} {caller(point.name, libraries)}"
    return texts is None or any(text in name for text in texts)
