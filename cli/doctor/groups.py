# SPDX-License-Identifier: BSD-3-Clause
"""
The limits of a process's control groups, of version 1 or 2.  Every group from the process's own to
the topmost one that is visible can have a limit; the tightest one counts.  Slurm, for example, sets
those of a job above the group of its step's processes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .machine import Machine

# Limits from here on mean none: version 1 then reports the largest multiple of a page.
NO_LIMIT = 1 << 60


def folders(machine: Machine, controller: str) -> Iterator[str]:
    """
    Yields control groups from the process's own upwards.  In a container, /proc may show the host's
    names.  Then the groups below the topmost do not exist, and the topmost is the container's.
    """
    for line in (machine.read("proc/self/cgroup") or "").splitlines():
        _, controllers, path = (line + "::").split(":")[:3]
        if controllers and controller not in controllers.split(","):
            continue
        parts = [part for part in path.split("/") if part]
        base = ["sys/fs/cgroup", *([controller] if controllers else [])]
        for length in range(len(parts), -1, -1):
            yield "/".join(base + parts[:length])


def cached(machine: Machine, folder: str) -> int:
    """Returns the bytes of cached files that a group frees before its memory runs out."""
    stat = dict(line.split() for line in (machine.read(f"{folder}/memory.stat") or "").splitlines())
    return int(stat.get("total_inactive_file", stat.get("inactive_file", 0)))


def memory(machine: Machine) -> tuple[int, int] | None:
    """
    Returns the lowest limit and the least free room below any limit, in bytes, or None without a
    limit.
    """
    limits, left = [], []
    for folder in folders(machine, "memory"):
        for limit, usage in (
            ("memory.max", "memory.current"),
            ("memory.limit_in_bytes", "memory.usage_in_bytes"),
        ):
            allowed = machine.number(f"{folder}/{limit}")
            if allowed is not None and allowed < NO_LIMIT:
                used = (machine.number(f"{folder}/{usage}") or 0) - cached(machine, folder)
                limits.append(allowed)
                left.append(max(0, allowed - max(0, used)))
    return (min(limits), min(left)) if limits else None


def processors_allowed(machine: Machine) -> float | None:
    """Returns how many processors' time the groups may use, or None without a limit."""
    found = []
    for folder in folders(machine, "cpu"):
        quota, _, period = (machine.read(f"{folder}/cpu.max") or "").partition(" ")
        if not quota:  # version 1, in which -1 is no limit
            quota = machine.read(f"{folder}/cpu.cfs_quota_us") or ""
            period = machine.read(f"{folder}/cpu.cfs_period_us") or ""
        if quota.isdecimal() and period.isdecimal() and int(period):
            found.append(int(quota) / int(period))
    return min(found, default=None)
