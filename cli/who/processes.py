# SPDX-License-Identifier: BSD-3-Clause
"""
Facts about running processes, from /proc.  No process is stopped or traced.  For a process that has
ended meanwhile, or that belongs to another user, there are no facts.
"""

import os
import pwd
import re
import time
from dataclasses import dataclass

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
    started_s: float  # after the boot


def read(pid, name):
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return file.read().decode(errors="replace")
    except OSError:
        return ""


def process(pid):
    """None: there is none."""
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


def all_processes():
    return {
        p.pid: p
        for p in (process(int(name)) for name in os.listdir("/proc") if name.isdigit())
        if p
    }


def family(processes, pid):
    """The process and all that descend from it."""
    children = {}
    for p in processes.values():
        children.setdefault(p.parent, []).append(p.pid)
    found, ahead = [], [pid]
    while ahead:
        found.append(ahead.pop())
        ahead += children.get(found[-1], ())
    return found


def age_s(p):
    return max(0.0, time.clock_gettime(time.CLOCK_BOOTTIME) - p.started_s)


def open_files(pid, target):
    """
    {descriptor: the file's identity} of those whose link is this text.  PermissionError: they are
    not ours to see.
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


def mapped_files(pid):
    """[(identity, path)] of the files that the process maps."""
    return [
        ((int(major, 16), int(minor, 16), int(inode)), path)
        for major, minor, inode, path in MAPPED.findall(read(pid, "maps"))
        if path
    ]


def variable(pid, name):
    """Of the environment that the process was started with."""
    for pair in read(pid, "environ").split("\0"):
        if pair.startswith(name + "="):
            return pair[len(name) + 1 :]
    return None


def pid_space(pid):
    """Names the process's PID namespace; None: not ours to see."""
    try:
        return os.readlink(f"/proc/{pid}/ns/pid")
    except OSError:
        return None


def own_number(pid):
    """Its pid as the process itself sees it, in its own PID namespace."""
    found = re.search(r"^NSpid:.*\s(\d+)$", read(pid, "status"), re.MULTILINE)
    return int(found[1]) if found else pid


def owner(pid):
    """The user's name; None: there is no such process."""
    try:
        uid = os.stat(f"/proc/{pid}").st_uid
    except OSError:
        return None
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def kernel_function(pid):
    """Where a sleeping process waits in the kernel; "": the kernel does not tell."""
    text = read(pid, "wchan").strip("\0\n ")
    return (
        text.partition(".")[0] if text != "0" else ""
    )  # without what a compiler has added to the name


def state_of(pid):
    """Its state's letter; None: it has ended."""
    p = process(pid)
    return p.state if p else None


def state_text(state, function):
    return STATES.get(state, f"in state {state}") + (
        f" ({function})" if function and state in ("S", "D") else ""
    )
