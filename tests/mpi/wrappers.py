# SPDX-License-Identifier: BSD-3-Clause
"""
Wrappers of a job or of its ranks, which create the conditions of cases.py, and checks whether this
machine and user can create them.
"""

import fcntl
import mmap
import os
import shutil
import subprocess
import time

# A shell expression for a rank's number in the job, for any launcher.
RANK = "${OMPI_COMM_WORLD_RANK:-${PMIX_RANK:-$PMI_RANK}}"


class NotHere(Exception):
    """The reason why a test's trouble cannot be made on this machine or by this user."""


def nothing(_):
    return []


def need(tool):
    if not shutil.which(tool):
        raise NotHere(f"no {tool} here")


def works(*command):
    if subprocess.run(command, capture_output=True).returncode != 0:
        raise NotHere("not allowed here: " + " ".join(command))


def on_ranks(test, *wrapper):
    """Wraps only ranks whose number passes the shell test: on_ranks('-eq 1', 'env', 'A=1')."""
    return lambda words: [
        "sh",
        "-c",
        (
            f'if [ {RANK} {test} ]; then exec {" ".join(wrapper).format(**words)} "$@"; else exec'
            ' "$@"; fi'
        ),
        "on-rank",
    ]


def odd(*wrapper):
    return lambda words: [
        "sh",
        "-c",
        (
            f'if [ $(({RANK} % 2)) = 1 ]; then exec {" ".join(wrapper).format(**words)} "$@"; else'
            ' exec "$@"; fi'
        ),
        "odd",
    ]


def built(program):
    """Requires a program that not every machine can build."""

    def wrap(words):
        if not os.path.exists(os.path.join(words["bin"], program)):
            raise NotHere(f"{program} was not built")
        return []

    return wrap


def every(*wrapper):
    return lambda words: [word.format(**words) for word in wrapper]


def fake_xpmem(fails="", test="-ge 0"):
    """
    Makes ranks find the fake of libxpmem (tests/unit/fake_xpmem.c).  It fails in this way on ranks
    whose number passes the shell test.
    """

    def wrap(words):
        if not os.path.exists(os.path.join(words["fake"], "libxpmem.so.0")):
            raise NotHere("the fake of libxpmem was not built")
        return [
            "sh",
            "-c",
            f'export LD_LIBRARY_PATH={words["fake"]}:$LD_LIBRARY_PATH; if [ {RANK} {test} ]; then'
            f' export FAKE_XPMEM_FAILS={fails}; fi; exec "$@"',
            "fake-xpmem",
        ]

    return wrap


def namespaces(kinds, script):
    """Runs each rank in its own namespaces, after a shell script."""

    def wrap(_):
        need("unshare")
        works("unshare", *kinds, "true")
        return ["unshare", *kinds, "sh", "-c", f'{script}; exec "$@"', "namespace"]

    return wrap


def one_namespace(test, kinds, script="true"):
    def wrap(_):
        need("unshare")
        works("unshare", *kinds, "true")
        return [
            "sh",
            "-c",
            (
                f'if [ {RANK} {test} ]; then exec unshare {" ".join(kinds)} sh -c \'{script}; exec'
                ' "$@"\' namespace "$@"; else exec "$@"; fi'
            ),
            "one-namespace",
        ]

    return wrap


def starts(times, seconds=100):
    """
    Runs the job this many times in sequence.  Prints how many did not end in time and how many
    failed.
    """
    return [
        "sh",
        "-c",
        (
            f'hung=0 failed=0 i=0; while [ $i -lt {times} ]; do timeout -k 5 {seconds} "$@"; rc=$?;'
            ' i=$((i + 1)); if [ $rc = 124 ] || [ $rc = 137 ]; then hung=$((hung + 1)); elif [ $rc'
            ' != 0 ]; then failed=$((failed + 1)); fi; done; echo "$i starts: $hung hung, $failed'
            ' failed"'
        ),
        "starts",
    ]


def one_by_one(*wrapper):
    """Starts the ranks in turn, so that other users have time to see the first ranks."""
    return lambda words: [*wrapper, "sh", "-c", f'sleep 0.{RANK}; exec "$@"', "one-by-one"]


def attacked(times):
    """
    Runs the job this many times in a private network, while another user attacks its sockets with a
    user's rights.
    """

    def wrap(words):
        need("unshare")
        need("ip")
        if os.geteuid() != 0:
            raise NotHere("another user can be made by root only")
        works("unshare", "--net", "ip", "link", "set", "lo", "up")
        return [
            "unshare",
            "--net",
            "sh",
            "-c",
            f'ip link set lo up; {words["tools"]}/stranger & exec "$@"',
            "attacked",
            *starts(times),
        ]

    return wrap


def twice_in_containers(_):
    """
    Runs the job twice at once, in containers that share a network.  PID 1 is the launcher in both,
    so both jobs get the same name.
    """
    need("unshare")
    kinds = ["--pid", "--fork", "--mount-proc", "--mount", "--kill-child"]
    works("unshare", *kinds, "true")
    one = (
        "unshare "
        + " ".join(kinds)
        + ' sh -c \'mount -t tmpfs none /dev/shm; TMPDIR=$0; export TMPDIR; mkdir -p $TMPDIR; exec'
        ' "$@"\''
    )
    return [
        "sh",
        "-c",
        f'{one} "$PWD/one" "$@" & {one} "$PWD/two" "$@"; rc=$?; wait $! && exit $rc',
        "twice",
    ]


CGROUPS = (  # v1, v2: folder, limit, usage
    ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
    ("/sys/fs/cgroup", "memory.max", "memory.current"),
)


# Mounts the hierarchy of a cgroup namespace: it begins at the job's own group, as in a container.
ONLY_OWN_GROUP = (
    "{ if grep -q memory: /proc/self/cgroup; then umount /sys/fs/cgroup/memory && mount -t cgroup"
    " -o memory cgroup /sys/fs/cgroup/memory; else umount /sys/fs/cgroup && mount -t cgroup2"
    " cgroup2 /sys/fs/cgroup; fi; }"
)


def enable_memory(top):
    """Enables the memory controller for the groups below."""
    try:
        with open(os.path.join(top, "cgroup.subtree_control"), "w") as file:
            file.write("+memory")
    except OSError:
        pass  # already enabled, or impossible


def in_cgroup(limit_bytes, command, test="-ge 0", namespace=False):
    """
    Runs ranks whose number passes the shell test in a memory cgroup of the case's own, which is the
    only visible cgroup if `namespace`.

    `command` may name {folder}/limit and {folder}/usage, its files.
    """

    def path(folder):
        return os.path.join(folder, "cgroup")

    def prepare(folder):
        for top, limit, usage in CGROUPS:
            group = os.path.join(top, "test-" + os.path.basename(folder))
            try:
                if limit == "memory.max":
                    enable_memory(top)
                os.mkdir(group)
                with open(os.path.join(group, limit), "w") as file:
                    file.write(str(limit_bytes))
            except OSError:
                if os.path.isdir(group):
                    os.rmdir(group)
                continue
            os.symlink(group, path(folder))
            os.mkdir(os.path.join(folder, "seen"))
            for name, file in (("limit", limit), ("usage", usage)):
                os.symlink(
                    os.path.join(folder, "seen" if namespace else group, file),
                    os.path.join(folder, name),
                )
            return
        raise NotHere("no memory cgroup can be made here")

    def clean(folder):
        for _ in range(50 if os.path.islink(path(folder)) else 0):
            try:
                return os.rmdir(os.readlink(path(folder)))
            except OSError:
                time.sleep(0.1)

    def each(words):
        group = path(words["folder"])
        inside = (
            f'mount --bind $(readlink {group}) {words["folder"]}/seen && {ONLY_OWN_GROUP} && exec'
            ' "$@"'
        )
        wrapper = (
            ["unshare", "--cgroup", "--mount", "sh", "-c", f"'{inside}'", "own-group"]
            if namespace
            else []
        )
        return [
            "sh",
            "-c",
            (
                f'if [ {RANK} {test} ]; then echo $$ >{group}/cgroup.procs && exec'
                f' {" ".join(wrapper)} "$@"; else exec "$@"; fi'
            ),
            "cgroup",
        ]

    return dict(prepare=prepare, each=each, clean=clean, command=command)


POOL = "/sys/kernel/mm/hugepages/hugepages-2048kB"
HUGE = 2 << 20
POPULATED_HUGE = 0x8000 | 0x40000 | 21 << 26  # MAP_POPULATE, MAP_HUGETLB, MAP_HUGE_2MB


def in_pool(name):
    try:
        with open(f"{POOL}/{name}_hugepages", encoding="ascii") as file:
            return int(file.read())
    except OSError:
        raise NotHere("no huge pages of 2 MB here") from None


def grow_pool(pages):
    """Grows the pool by this many pages, or not at all."""
    had = in_pool("nr")
    for wanted in (had + pages, had):
        try:
            with open(f"{POOL}/nr_hugepages", "w", encoding="ascii") as file:
                file.write(str(wanted))
        except OSError:
            raise NotHere("the pool of huge pages cannot be filled here") from None
        if in_pool("nr") == had + pages:
            return
    raise NotHere("no memory for the pool of huge pages")


def shrink_pool(pages):
    """
    Shrinks the pool by this many pages.  Retries for a while, because a job that has just ended may
    still hold some pages.
    """
    wanted, until = max(0, in_pool("nr") - pages), time.monotonic() + 10
    while True:
        with open(f"{POOL}/nr_hugepages", "w", encoding="ascii") as file:
            file.write(str(wanted))
        if in_pool("nr") <= wanted or time.monotonic() > until:
            return
        time.sleep(0.05)


def no_pool(_):
    if in_pool("nr") > 0:
        raise NotHere("the pool of huge pages is in use")


def with_pool(pages, held=0, used=None):
    """
    Adds pages to the system's pool of huge pages, of which another process holds some.  Restores
    the pool afterwards.  `used` is the number of pages that the job must have used at some time.
    """
    kept = {}

    def prepare(_):
        # the same lock as in tests/unit
        kept["lock"] = open("/tmp/huddle-test-pool", "a", encoding="ascii")
        fcntl.flock(kept["lock"], fcntl.LOCK_EX)
        try:
            grow_pool(pages)
        except NotHere:
            kept.pop("lock").close()
            raise
        if held:
            flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | POPULATED_HUGE
            kept["others"] = mmap.mmap(-1, held * HUGE, flags=flags)
        kept["free"] = in_pool("free")

    def clean(_):
        if "others" in kept:
            kept.pop("others").close()
        try:
            shrink_pool(pages)
        finally:
            kept.pop("lock").close()

    def during(job):
        least = kept["free"]
        until = time.monotonic() + 60
        while job.process.poll() is None and time.monotonic() < until:
            least = min(least, in_pool("free"))
            if kept["free"] - least >= used:
                return
            time.sleep(0.002)
        job.complaints.append(f"{kept['free'] - least} pages of the pool were used, not {used}")

    more = {} if used is None else {"during": during}
    return dict(prepare=prepare, clean=clean, **more)
