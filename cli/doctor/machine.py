# SPDX-License-Identifier: BSD-3-Clause
"""The machine, or the container, as ranks see it: limits, memory, single copy, processors."""

from __future__ import annotations

import os
import resource
from typing import Any

from ..common.jobs import cores
from ..common.layout import Layout
from ..common.text import bytes_text
from . import groups
from .finding import FAIL, OK, WARN, Finding

DESCRIPTORS = 64  # number that a rank must be allowed
MEMORY_BYTES = 10 << 20  # a rank's memory, at most, if HUDDLE_MEMORY is auto
# What huddle leaves to the MPI and the program: memory, address space (src/core/arena/budget.c).
MEMORY_KEPT, SPACE_KEPT = 8 << 20, 256 << 20
# Address space of the smallest program after MPI_Init: MPICH 4.  Under Open MPI 4.1 it has 174 MB.
PROGRAM_SPACE = 105 << 20
FEW_BYTES = 1 << 20  # a rank's memory that leaves little for large messages
SHM_BYTES = 64 << 20  # what a container has where nobody asks for more


class Machine:
    """The machine that the checks examine. root: the folder with /proc and /sys, for tests."""

    def __init__(self, ranks: int = 0, root: str = "/") -> None:
        self.root = root
        self.ranks = ranks or len(os.sched_getaffinity(0))
        self.settings_serve = True  # installed.settings looks
        self.memory_set: int | None = None  # HUDDLE_MEMORY in bytes, from there; None: auto
        self.pair: Any = None
        self.messages = ""  # words of the library about this pair

    def two_ranks(self, layout: Layout) -> dict[str, Any]:
        """
        Returns the facts that the first of two processes reports about their team.  Asks once,
        since the library prints its complaints each time.  Bad settings are a finding of their own,
        so the team is then asked without settings.
        """
        if not self.pair:
            ours = [name for name in os.environ if name.startswith("HUDDLE")]
            # (without its name, the user's tuning file would still be read)
            changed: dict[str, Any] = (
                {} if self.settings_serve else {**dict.fromkeys(ours), "HUDDLE_TUNING": "off"}
            )
            # (ranks try single copy only if an algorithm needs it)
            changed["HUDDLE_ALLTOALL"] = "cma_read"
            answer, self.messages = layout.hear("team", "--ranks", "2", "--bind", "none", **changed)
            self.pair = answer["members"][0]["team"]
        return self.pair

    def read(self, path: str) -> str | None:
        """Returns a small file's text, or None if the file is missing."""
        try:
            with open(os.path.join(self.root, path), encoding="utf-8", errors="replace") as file:
                return file.read().strip()
        except OSError:
            return None

    def number(self, path: str) -> int | None:
        text = self.read(path)
        return int(text) if text and text.isdecimal() else None


def container(machine: Machine, _layout: Layout | None) -> list[Finding]:
    kinds = {".dockerenv": "Docker", "run/.containerenv": "Podman", ".singularity.d": "Apptainer"}
    for path, name in kinds.items():
        if os.path.exists(os.path.join(machine.root, path)):
            text = f"{name}; all ranks of a node must run in one container, or share its namespaces"
            return [Finding("container", OK, text)]
    return []


def shared_memory(_machine: Machine, _layout: Layout) -> list[Finding]:
    try:
        os.close(os.memfd_create("huddle"))
    except OSError as error:
        return [
            Finding(
                "shared memory",
                FAIL,
                f"memfd_create: {error.strerror}",
                "let the container's seccomp profile allow memfd_create",
            )
        ]
    return [Finding("shared memory", OK, "memfd_create works")]


def team(machine: Machine, layout: Layout) -> list[Finding]:
    """Checks that two processes exchange data correctly."""
    first = machine.two_ranks(layout)
    if first["state"] != "ready":
        lines = [line.removeprefix("huddle: ") for line in machine.messages.splitlines()]
        text = "; ".join([first.get("reason", first["state"]), *lines])
        return [Finding("two ranks", FAIL, text)]
    settings = "" if machine.settings_serve else ", with the settings' defaults"
    return [Finding("two ranks", OK, f"share memory, and their data is correct{settings}")]


def single_copy(machine: Machine, layout: Layout) -> list[Finding]:
    scope = machine.number("proc/sys/kernel/yama/ptrace_scope")
    first = machine.two_ranks(layout)
    if first["state"] != "ready":
        return [Finding("single copy", WARN, "not tried, as two ranks do not share memory")]
    if first.get("direct"):
        return [Finding("single copy", OK, f"{first['single_copy']} (CMA)")]
    if scope is not None and scope > 1:
        change = "sysctl kernel.yama.ptrace_scope=1"
    else:
        change = "allow process_vm_readv (Docker: --cap-add SYS_PTRACE), or HUDDLE_CMA=on"
    text = "not between ranks; large messages are copied twice"
    if scope is not None:
        text += f" (ptrace_scope is {scope})"
    return [Finding("single copy", WARN, text, change)]


def limits(machine: Machine, _layout: Layout) -> list[Finding]:
    found = []
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = max(DESCRIPTORS, 2 * machine.ranks)
    if files != resource.RLIM_INFINITY and files < wanted:
        state = FAIL if files < DESCRIPTORS else WARN
        text = f"{files} open files for {machine.ranks} ranks"
        found.append(Finding("limits", state, text, f"ulimit -n {max(1024, wanted)}"))
    space, _ = resource.getrlimit(resource.RLIMIT_AS)
    arenas = (machine.ranks + 1) * (machine.memory_set or MEMORY_BYTES)
    wanted = SPACE_KEPT + PROGRAM_SPACE + arenas
    if space != resource.RLIM_INFINITY and space < 2 * wanted:
        state = FAIL if space < wanted else WARN
        least = f"the smallest program needs {bytes_text(wanted)}"
        text = f"address space of {bytes_text(space)} per rank; {least}"
        found.append(Finding("limits", state, text, "ulimit -v unlimited"))
    size, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    wanted = machine.memory_set or MEMORY_BYTES
    if size != resource.RLIM_INFINITY and size < wanted:
        text = f"files of at most {bytes_text(size)}, and shared memory is such a file"
        found.append(Finding("limits", FAIL, text, "ulimit -f unlimited"))
    return found or [Finding("limits", OK, "open files, address space and file size suffice")]


def memory(machine: Machine, _layout: Layout | None) -> list[Finding]:
    found = groups.memory(machine)
    if found is None:
        return [Finding("memory", OK, "no limit of a control group")]
    limit, left = found
    share = limit // 100 // max(machine.ranks, os.cpu_count() or 1)
    each = min(share, MEMORY_BYTES) if machine.memory_set is None else machine.memory_set
    room = max(0, left - MEMORY_KEPT)
    text = f"{bytes_text(left)} left of the control group's limit"
    if room >= machine.ranks * each and (each >= FEW_BYTES or machine.memory_set is not None):
        return [Finding("memory", OK, text)]
    text += f", for {machine.ranks} ranks with {bytes_text(each)} of shared memory each"
    better = min(2, room // (2 * machine.ranks) >> 20)
    change = "raise the limit" + (f", or HUDDLE_MEMORY={better}M" if better > 0 else "")
    return [Finding("memory", WARN, text, change)]


def shm_folder(machine: Machine, _layout: Layout | None) -> list[Finding]:
    """Checks /dev/shm, which MPIs use though huddle does not."""
    path = os.path.join(machine.root, "dev/shm")
    try:
        facts = os.statvfs(path)
    except OSError:
        return [Finding("/dev/shm", WARN, "missing; MPIs use it", "mount a tmpfs on /dev/shm")]
    free = facts.f_bavail * facts.f_frsize
    text = f"{bytes_text(free)} free; huddle does not use it, but MPIs do"
    if free < SHM_BYTES + machine.ranks * (4 << 20):
        return [Finding("/dev/shm", WARN, text, "Docker: --shm-size=1g")]
    return [Finding("/dev/shm", OK, text)]


def processors(machine: Machine, _layout: Layout | None) -> list[Finding]:
    allowed, share = len(os.sched_getaffinity(0)), groups.processors_allowed(machine)
    found = []
    if machine.ranks > allowed:
        text = f"{machine.ranks} ranks on {allowed}: oversubscribed ranks wait by yielding"
        found.append(Finding("processors", WARN, text, "start at most one rank per core"))
    elif machine.ranks > cores():
        text = f"{machine.ranks} ranks on {cores()} cores: ranks share cores"
        found.append(Finding("processors", WARN, text, "start at most one rank per core"))
    if share is not None and share < allowed:
        text = f"the control group allows {share:.2g} of {allowed}"
        found.append(Finding("processors", WARN, text, "raise its CPU quota, or start fewer ranks"))
    online = os.cpu_count() or allowed
    text = f"{allowed} of {online} may be used"
    if allowed == 1 and online > 1:
        text += ": this shell is bound to one processor"
        found.append(Finding("binding", WARN, text, "start the job from an unbound shell"))
    return found or [Finding("processors", OK, text)]


CHECKS = (
    ("container", container),
    ("shared memory", shared_memory),
    ("two ranks", team),
    ("single copy", single_copy),
    ("limits", limits),
    ("memory", memory),
    ("/dev/shm", shm_folder),
    ("processors", processors),
)
