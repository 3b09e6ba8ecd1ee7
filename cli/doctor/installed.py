# SPDX-License-Identifier: BSD-3-Clause
"""huddle's own files and settings, and the MPIs on PATH."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from ..common import mpis, wisdom_place
from ..common.layout import Layout
from ..common.sizes import number
from .finding import FAIL, OK, WARN, Finding

if TYPE_CHECKING:
    from .machine import Machine

SWITCHES = ("off", "0")
SYSTEMS = ("srun", "flux", "jsrun", "aprun")  # start the ranks themselves


def files(_machine: Machine, layout: Layout) -> list[Finding]:
    missing = [
        name
        for name in ("libhuddle-loader.so", "libhuddle-record.so")
        if not os.path.isfile(os.path.join(layout.plugins, name))
    ]
    if missing:
        return [Finding("files", FAIL, f"missing: {', '.join(missing)}", "install huddle again")]
    if any(letter in layout.plugins for letter in " :"):
        return [
            Finding(
                "files",
                FAIL,
                f"{layout.plugins} has a space or a colon, which LD_PRELOAD cannot have",
                "install huddle elsewhere",
            )
        ]
    return [Finding("files", OK, layout.plugins)]


def lines_of(path: str | None) -> list[str]:
    """Returns the first word of each line of a batch system's file of hosts."""
    try:
        with open(path or "", encoding="utf-8", errors="replace") as file:
            return [line.split()[0] for line in file if line.strip()]
    except OSError:
        return []


def nodes_of_job() -> int:
    """Returns the number of nodes of the batch job in which this process runs, or 1."""
    slurm = os.environ.get("SLURM_JOB_NUM_NODES", "")
    files = ("PBS_NODEFILE", "LSB_DJOB_HOSTFILE", "PE_HOSTFILE")
    hosts = [len(set(lines_of(os.environ.get(name)))) for name in files]
    return max([1, int(slurm) if slurm.isdecimal() else 1, *hosts])


def nodes(_machine: Machine | None, layout: Layout) -> list[Finding]:
    """Checks HUDDLE_NODES in a job of several nodes."""
    count = nodes_of_job()
    if count == 1:
        return []
    rows = layout.ask("info", "settings")["settings"]
    value = next(row["value"] for row in rows if row["name"] == "HUDDLE_NODES")
    text = f"this job has {count}; HUDDLE_NODES={value}"
    if value in SWITCHES:
        text += ": communicators with ranks on several nodes fall back to the MPI"
        return [Finding("nodes", WARN, text, "unset HUDDLE_NODES")]
    if value == "auto":
        text += (
            ": these communicators are handled under Open MPI and Hydra; they fall back to the MPI"
            " under srun with MPICH, which does not tell which ranks use huddle"
        )
    return [Finding("nodes", OK, text)]


def change_of(line: str) -> str:
    """
    Returns the remedy for a line about a bad setting.  Only lines about a tuning file found by
    default name no setting.
    """
    if line.startswith("HUDDLE"):
        return "correct or unset it"
    return "correct or remove this tuning file, or set HUDDLE_TUNING=off"


def settings(machine: Machine, layout: Layout) -> list[Finding]:
    answer = layout.ask("info", "settings")
    machine.settings_serve = not answer["error"] and os.environ.get("HUDDLE") not in SWITCHES
    if answer["error"]:
        lines = [answer["error"], *answer["more_errors"]]
        return [Finding("settings", FAIL, line, change_of(line)) for line in lines]
    if os.environ.get("HUDDLE") in SWITCHES:
        return [Finding("settings", FAIL, "HUDDLE=off", "unset HUDDLE")]
    memory = next(s["value"] for s in answer["settings"] if s["name"] == "HUDDLE_MEMORY")
    machine.memory_set = None if memory == "auto" else number(memory)
    changed = [s["name"] for s in answer["settings"] if s["origin"] != "default"]
    return [Finding("settings", OK, ", ".join(changed) or "all are the defaults")]


def wisdom(machine: Machine, layout: Layout) -> list[Finding]:
    """Checks whether programs can keep their findings."""
    if not machine.settings_serve:
        return []
    value = wisdom_place.setting(layout)
    if value in (wisdom_place.OFF, wisdom_place.READ):
        return [Finding("wisdom", OK, f"HUDDLE_WISDOM={value}: programs learn nothing")]
    if trouble := wisdom_place.unkept(layout):
        return [Finding("wisdom", WARN, *trouble)]
    files, refused = wisdom_place.known(layout)
    found = [Finding("wisdom", WARN, line) for line in refused]
    found += [
        Finding("wisdom", WARN, line, wisdom_place.remedy(one.path))
        for one in files
        if one.here and (line := one.not_used or one.not_written)
    ]
    text = f"programs keep what they learn in {wisdom_place.where(layout)}"
    return found or [Finding("wisdom", OK, text)]


def mpi(_machine: Machine | None, layout: Layout) -> list[Finding]:
    found = mpis.on_path(layout)
    built = ", ".join(sorted(layout.front_ends())) or "none"
    if not found:
        system = next((name for name in SYSTEMS if shutil.which(name)), None)
        change = "load your MPI's module"
        if not system or built == "none":
            return [Finding("MPI", FAIL, f"no launcher on PATH; front ends: {built}", change)]
        text = f"{system} starts programs of any MPI; there are front ends for {built}"
        return [Finding("MPI", WARN, text, f"{change}, so that your MPI is checked")]
    lines = []
    for one in found:
        if one["path"]:
            lines.append(Finding("MPI", OK, f"{one['mpi']} ({one['command']})"))
        else:
            lines.append(
                Finding(
                    "MPI",
                    WARN,
                    f"{one['mpi']} ({one['command']}) has no front end; built are: {built}",
                    "build huddle with this MPI's headers",
                )
            )
    if all(line.state == WARN for line in lines):
        lines[0] = lines[0]._replace(state=FAIL)
    families = {one["mpi"].rsplit(" ", 1)[0] for one in found}
    if len(families) > 1:
        lines.append(
            Finding(
                "launcher",
                WARN,
                f"launchers of {len(families)} MPIs are on PATH",
                "start a program with the launcher of its own MPI",
            )
        )
    return lines


# The name of what each looks at, for where it cannot look.
CHECKS = (
    ("files", files),
    ("settings", settings),
    ("wisdom", wisdom),
    ("MPI", mpi),
    ("nodes", nodes),
)
