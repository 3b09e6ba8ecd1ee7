# SPDX-License-Identifier: BSD-3-Clause
"""huddle who: which ranks of a running job wait for which, inside huddle's collectives."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from ..common import validators
from ..common.command_line import Argument, Command, Option
from ..common.exit_status import DONE, FAILED
from ..common.layout import CliError, Layout
from ..common.types import Options
from . import processes
from .text import plain, plain_texts, show

if TYPE_CHECKING:
    from .processes import Process

ARENA = "/memfd:huddle (deleted)"  # the target of a link to the shared memory of a rank
PARTS = ("libhuddle", "mca_coll_huddle")
MPI = ("libmpi.so", "libmpich.so", "libmpi_cxx.so")
ENDING_S = 2
SHOWN = 4  # ranks that a line names


def a_pid(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise validators.argument(text, "the pid of a rank or of the launcher", "no process")
    return int(text)


def seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0
    if not 0.1 <= number <= 86400:
        raise validators.argument(text, "seconds, from 0.1")
    return number


PARAMETERS = (
    Argument(
        "pid",
        metavar="PID",
        type=a_pid,
        help=(
            "process ID of a rank of the job, or of its launcher (mpirun, "
            "mpiexec, srun), on this node"
        ),
    ),
    Option("--json", is_flag=True, help="print JSON"),
    Option(
        "--watch",
        type=seconds,
        metavar="SECONDS",
        help="repeat every SECONDS, until the process ends or Ctrl-C",
    ),
)
EPILOG = (
    "Prints waits of 50 ms and longer in collectives that huddle "
    "handles. The job needs no setting, and is neither stopped nor "
    "changed: this command reads the data that the ranks publish, "
    "through /proc. It must run as the same user or as root. The exit "
    "status is 1 if no process of the job uses huddle, or if a rank could "
    "not be read, for example because it runs another build."
)


class Memory:
    """The processes of this machine with open arenas, as far as this user may read them."""

    def __init__(self, table: dict[int, Process]) -> None:
        self.open, self.denied = {}, set()
        for pid in table:
            try:
                files = processes.open_files(pid, ARENA)
            except PermissionError:
                self.denied.add(pid)
                continue
            except OSError:
                continue
            if files:
                self.open[pid] = files


def seen_by(pid: int) -> set[tuple[int, int, int]]:
    """
    Returns the arenas mapped by a rank: its own arena, and the arenas of all ranks that shared a
    team with the rank.
    """
    return {file for file, path in processes.mapped_files(pid) if path == ARENA}


def ended(pid: int) -> bool:
    return processes.state_of(pid) in (None, "Z")


def explain_none(table: dict[int, Process], memory: Memory, pid: int, family: list[int]) -> str:
    """Returns the reason why there is nothing to print."""
    p = table[pid]
    whom = f"process {pid} ({plain(p.name)})"
    if pid in memory.denied and all(one in memory.denied for one in family):
        return (
            f"{whom} belongs to user {processes.owner(pid)}, or its memory is protected: run this"
            " as that user or as root"
        )
    if ended(pid):
        return f"{whom} has ended"
    maps = [path.rsplit("/", 1)[-1] for one in family for _, path in processes.mapped_files(one)]
    whom += " and its descendants have" if len(family) > 1 else " has"
    if ARENA.rsplit("/", 1)[-1] in maps:
        return (
            f"{whom} shared memory of huddle, but its descriptor is closed (by the program?), so it"
            " cannot be read from outside"
        )
    if any(name.startswith(PARTS) for name in maps):
        return (
            f"{whom} huddle loaded, but no shared memory: MPI_Init has not returned, or HUDDLE=off,"
            " or there is one rank, or there was no memory ('huddle run --stats' prints the"
            " reason)"
        )
    mpi = next((name for name in maps if name.startswith(MPI)), None)
    if mpi:
        return f"{whom} an MPI ({mpi}), but no huddle: start the job with 'huddle run'"
    return f"{whom} neither huddle nor an MPI: is it the launcher, or a rank, and on this node?"


def others_text(table: dict[int, Process], memory: Memory) -> str:
    """Lists possible other ranks: ' Ranks that use huddle here: 4711 (app), ...'."""
    ranks = [f"{one} ({plain(table[one].name)})" for one in sorted(memory.open)]
    more = [f"{len(ranks) - SHOWN} more"] if len(ranks) > SHOWN else []
    return f" Ranks that use huddle here: {', '.join(ranks[:SHOWN] + more)}" if ranks else ""


def job_of(table: dict[int, Process], memory: Memory, pid: int) -> set[int]:
    """Returns the processes that have arenas and belong to the job."""
    family = processes.family(table, pid)
    job = {one for one in family if one in memory.open}
    run = processes.variable(pid, "HUDDLE_JOB") if not job else None
    if run:  # a launcher whose ranks are not its descendants, such as srun
        job = {one for one in memory.open if processes.variable(one, "HUDDLE_JOB") == run}
    if not job:
        raise CliError(explain_none(table, memory, pid, family) + others_text(table, memory))
    ahead = list(job)
    while ahead:
        seen = seen_by(ahead.pop())
        more = {
            one
            for one, files in memory.open.items()
            if one not in job and seen & set(files.values())
        }
        job |= more
        ahead += more
    return job


def closed(table: dict[int, Process], memory: Memory, family: list[int]) -> list[Any]:
    """Returns the ranks, except forked children, whose program has closed the descriptor."""
    return [
        pid
        for pid in family
        if pid not in memory.open
        and pid not in memory.denied
        and table[pid].parent not in memory.open
        and seen_by(pid)
    ]


def ask(
    layout: Layout, table: dict[int, Process], memory: Memory, job: set[int]
) -> list[dict[str, Any]]:
    """Returns the answer of each arena's owner, not of a child that inherited the descriptor."""
    files = {(pid, fd): file for pid in job for fd, file in memory.open[pid].items()}
    request = {"arenas": [{"pid": pid, "fd": fd} for pid, fd in files]}
    best: dict[Any, Any] = {}
    for answer in plain_texts(layout.question("read_waits", request)["arenas"]):
        pid = answer["pid"]
        answer["owns"] = answer.get("owner") == processes.own_number(pid)
        rank = (not answer["owns"], table[pid].started_s, pid)
        file = files[pid, answer["fd"]]
        if file not in best or rank < best[file][0]:
            best[file] = (rank, answer)
    return [
        answer
        for _, answer in sorted(
            best.values(), key=lambda pair: (pair[1].get("world_rank", -1), pair[1]["pid"])
        )
    ]


class Job:
    """The data that its ranks publish at this moment."""

    def __init__(self, layout: Layout, pid: int) -> None:
        table = processes.all_processes()
        if pid not in table:
            raise CliError(f"there is no process {pid} on this node")
        memory = Memory(table)
        answers = ask(layout, table, memory, job_of(table, memory, pid))
        self.ranks = [answer for answer in answers if "problem" not in answer]
        self.problems = [
            f"process {answer['pid']}: {answer['problem']}"
            for answer in answers
            if "problem" in answer
        ]
        self.problems += [
            f"process {one}: the descriptor of its shared memory is closed"
            for one in closed(table, memory, processes.family(table, pid))
        ]
        if not self.ranks:
            raise CliError(self.problems[0])
        self.numbers = {
            (processes.pid_space(rank["pid"]), rank["owner"]): rank["pid"]
            for rank in self.ranks
            if rank["owns"]
        }
        for rank in self.ranks:
            rank["state"] = processes.state_of(rank["pid"])
            for wait in rank["waits"]:
                wait["waited_s"] = min(
                    wait.pop("waited_ns") * 1e-9, processes.age_s(table[rank["pid"]])
                )

    def waits(self) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        return [(rank, wait) for rank in self.ranks for wait in rank["waits"]]

    def calls(self) -> list[dict[str, Any]]:
        """Returns the members waiting in each call of a communicator, and the other members."""
        blocks: dict[Any, Any] = {}
        for rank, wait in self.waits():
            key = tuple(wait[name] for name in ("team", "call", "collective", "algorithm", "root"))
            blocks.setdefault(key, []).append((rank, wait))
        return [
            self.call(pairs)
            for _, pairs in sorted(
                blocks.items(), key=lambda item: -max(wait["waited_s"] for _, wait in item[1])
            )
        ]

    def call(self, pairs: list[tuple[dict[str, Any], dict[str, Any]]]) -> dict[str, Any]:
        first = pairs[0][1]
        block = {
            name: first[name]
            for name in ("communicator", "size", "team", "call", "collective", "algorithm", "root")
        }
        block["bytes"] = max(wait["bytes"] for _, wait in pairs)
        block["waiting"] = sorted(
            (
                {
                    "rank": wait["rank"],
                    "pid": rank["pid"],
                    "state": rank["state"],
                    "waited_s": wait["waited_s"],
                    "label": wait["label"],
                    "file": wait["file"],
                    "line": wait["line"],
                    "owner": wait["owner"],
                }
                for rank, wait in pairs
            ),
            key=lambda w: (w["rank"], -w["waited_s"]),
        )
        there = {wait["rank"] for _, wait in pairs}
        block["absent"] = [
            self.absent(block, number, pairs)
            for number in range(block["size"])
            if number not in there
        ]
        return block

    def absent(
        self, block: dict[str, Any], number: int, pairs: list[tuple[dict[str, Any], dict[str, Any]]]
    ) -> dict[str, Any]:
        """Returns the data about a member that is not in a long wait of this call."""
        pid = next(
            (
                self.pid_of(rank, one["pid"])
                for rank, wait in pairs
                for one in wait["absent"]
                if one["rank"] == number and one["pid"]
            ),
            None,
        )
        if pid is None:
            pid = next(
                (
                    rank["pid"]
                    for rank, wait in self.waits()
                    if (wait["team"], wait["rank"]) == (block["team"], number)
                ),
                None,
            )
        known: dict[Any, Any] = {
            "rank": number,
            "pid": pid,
            "state": None,
            "wchan": "",
            "left": False,
            "elsewhere": [],
        }
        if pid is not None:
            known["state"], known["wchan"] = processes.state_of(pid), processes.kernel_function(pid)
            known["left"] = (
                known["state"] is not None
                and pid not in {rank["pid"] for rank in self.ranks}
                and not seen_by(pid)
            )
            known["elsewhere"] = [
                {
                    name: wait[name]
                    for name in (
                        "communicator",
                        "size",
                        "call",
                        "collective",
                        "bytes",
                        "root",
                        "algorithm",
                        "waited_s",
                    )
                }
                for rank, wait in self.waits()
                if rank["pid"] == pid
            ]
        return known

    def pid_of(self, teller: dict[str, Any], number: int) -> int | None:
        """Returns the local process that the rank knows by this pid, or None."""
        space = processes.pid_space(teller["pid"])
        if (space, number) in self.numbers:
            return self.numbers[space, number]
        return number if space == processes.pid_space("self") else None

    def handled(self) -> dict[str, dict[int, list[int]]]:
        """
        Returns {collective: {calls: [ranks]}} where the ranks differ, if all ranks have different
        numbers.
        """
        numbers = [rank["world_rank"] for rank in self.ranks]
        if min(numbers) < 0 or len(set(numbers)) < len(numbers):
            return {}
        counts: dict[Any, Any] = {}
        for rank in self.ranks:
            for name, calls in rank["handled"].items():
                counts.setdefault(name, {}).setdefault(calls, []).append(rank["world_rank"])
        return {name: by for name, by in counts.items() if len(by) > 1}

    def facts(self) -> dict[str, Any]:
        return {
            "ranks": [
                {name: rank[name] for name in ("world_rank", "pid", "state", "handled")}
                for rank in self.ranks
            ],
            "calls": self.calls(),
            "handled_differently": self.handled(),
            "problems": self.problems,
        }


def show_waits(options: Options, layout: Layout) -> int:
    """Returns the exit status."""
    facts = Job(layout, options.pid).facts()
    if options.json:
        print(json.dumps(facts, indent=None if options.watch else 2), flush=True)
    else:
        show(facts)
    return FAILED if facts["problems"] else DONE


def ends(pid: int) -> bool:
    """
    Waits for a process to end and returns whether it did.  An ending process frees its memory
    before its number.
    """
    until = time.monotonic() + ENDING_S
    while not ended(pid) and time.monotonic() < until:
        time.sleep(ENDING_S / 20)
    return ended(pid)


def main(options: Options, _command: list[Any], layout: Layout) -> int:
    status = show_waits(options, layout)
    while options.watch:
        time.sleep(options.watch)
        if not options.json:
            print(f"\n{time.strftime('%H:%M:%S')}", flush=True)
        try:
            status = show_waits(options, layout)
        except CliError:
            if ends(options.pid):
                break
            raise
    return status


COMMAND = Command(main, PARAMETERS, EPILOG)
