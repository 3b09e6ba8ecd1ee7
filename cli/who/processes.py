# SPDX-License-Identifier: BSD-3-Clause
"""
Facts about running processes, from /proc.  No process is stopped or traced.  For a process that has
ended meanwhile, or that belongs to another user, there are no facts.
"""

from __future__ import annotations

import os
import pwd
import re
import time
from dataclasses import dataclass
from typing import Any

# The letter of a state -> its meaning.  The kernel function in which the process waits is added
# where the kernel provides it.
STATES = {
    "R": "running: it computes, is in another call, or works in this one",
    "S": "asleep in the kernel: in another call, a read, or a pause",
    "D": "blocked in the kernel, by a device or a file system",
    "T": "stopped by a signal, such as SIGSTOP or that of Ctrl-Z",
    "t": "stopped by a debugger",
    "Z": "has ended",
    "X": "has ended",
    None: "has ended",
}
HALTED = ("T", "t", "Z", "X", None)
MAPPED = re.compile(r"^\S+ \S+ \S+ ([0-9a-f]+):([0-9a-f]+) (\d+) +(.*)$", re.MULTILINE)


@dataclass
class Process:
    pid: int
    name: str
    state: str
    parent: int
    started_s: float  # time after the boot


def read(pid: int, name: str) -> str:
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return file.read().decode(errors="replace")
    except OSError:
        return ""


def process(pid: int) -> Process | None:
    """Returns a process, or None if it does not exist."""
    text = read(pid, "stat")
    if ")" not in text:
        return None
    fields = text[text.rindex(")") + 2 :].split()
    return Process(
        pid,
        text[text.index("(") + 1 : text.rindex(")")],
        fields[0],
        int(fields[1]),
        int(fields[19]) / os.sysconf("SC_CLK_TCK"),
    )


def all_processes() -> dict[int, Process]:
    return {
        p.pid: p
        for p in (process(int(name)) for name in os.listdir("/proc") if name.isdigit())
        if p
    }


def family(processes: dict[int, Process], pid: int) -> list[int]:
    """Returns the process and all its descendants."""
    children: dict[int, list[int]] = {}
    for p in processes.values():
        children.setdefault(p.parent, []).append(p.pid)
    found, ahead = [], [pid]
    while ahead:
        found.append(ahead.pop())
        ahead += children.get(found[-1], ())
    return found


def age_s(p: Process) -> float:
    return max(0.0, time.clock_gettime(time.CLOCK_BOOTTIME) - p.started_s)


def open_files(pid: int, target: str) -> dict[int, tuple[int, int, int]]:
    """
    Returns {descriptor: the file's identity} for links to this text.  Raises PermissionError if
    they may not be read.
    """
    found = {}
    for name in os.listdir(f"/proc/{pid}/fd"):
        try:
            if os.readlink(f"/proc/{pid}/fd/{name}") == target:
                status = os.stat(f"/proc/{pid}/fd/{name}")
                found[int(name)] = (os.major(status.st_dev), os.minor(status.st_dev), status.st_ino)
        except OSError:
            pass  # closed meanwhile
    return found


def mapped_files(pid: int) -> list[tuple[tuple[int, int, int], str]]:
    """Returns [(identity, path)] of the files that the process maps."""
    return [
        ((int(major, 16), int(minor, 16), int(inode)), path)
        for major, minor, inode, path in MAPPED.findall(read(pid, "maps"))
        if path
    ]


def variable(pid: int, name: str) -> str | None:
    """Returns a variable of the environment with which the process was started."""
    for pair in read(pid, "environ").split("\0"):
        if pair.startswith(name + "="):
            return pair[len(name) + 1 :]
    return None


def pid_space(pid: int | str) -> str | None:
    """Returns the process's PID namespace, or None if it may not be read."""
    try:
        return os.readlink(f"/proc/{pid}/ns/pid")
    except OSError:
        return None


def own_number(pid: int) -> int:
    """Returns the pid of a process in its own PID namespace."""
    found = re.search(r"^NSpid:.*\s(\d+)$", read(pid, "status"), re.MULTILINE)
    return int(found[1]) if found else pid


def owner(pid: Any) -> Any:
    """Returns the user's name, or None if there is no such process."""
    try:
        uid = os.stat(f"/proc/{pid}").st_uid
    except OSError:
        return None
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def kernel_function(pid: int) -> str:
    """Returns where a sleeping process waits in the kernel, "" if the kernel does not tell."""
    text = read(pid, "wchan").strip("\0\n ")
    return text.partition(".")[0] if text != "0" else ""  # the name without a compiler's suffix


def state_of(pid: int) -> str | None:
    """Returns the letter of a process's state, or None if the process has ended."""
    p = process(pid)
    return p.state if p else None


def state_text(state: str | None, function: str) -> str:
    return STATES.get(state, f"in state {state}") + (
        f" ({function})" if function and state in ("S", "D") else ""
    )
