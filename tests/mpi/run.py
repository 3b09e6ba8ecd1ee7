# SPDX-License-Identifier: BSD-3-Clause
"""
Runs the cases of cases.py and other files: an MPI program under an MPI with huddle, often under
adverse conditions, and checks the result.

    run.py --build BUILD [--full | --brief] [--mpis MPI,...] [--only TEXT]
           [--list] [--plain] GROUP...

A case passes if the job ends in time with the expected status, prints exactly the expected "huddle:
" lines, its statistics show calls that were handled or fell back for the expected reason, and
nothing remains: no process of the job, no name of huddle in /dev/shm.  --plain: without huddle, to
check the test programs themselves.  --brief: each case under only one of its MPIs, one of Debian's
if possible.
"""

import argparse
import glob
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import uuid
import zlib
from dataclasses import replace

import peers
from accidents import ACCIDENTS
from cases import CASES, COLLECTIVES, DIFFERENTIAL, Case
from devices import DEVICES
from forced import forced
from handed_over import HANDED_OVER
from learned_spans import LEARNED_SPANS
from mismatches import MISMATCHES
from soaks import SOAKS
from watched import WATCHED
from wrappers import NotHere

MARK = "MPI_TEST_CASE"  # a variable in the environment of every process of a case
NAMES_BEFORE = set(os.listdir("/dev/shm"))  # files of other work on this machine


def marked(mark):
    """Returns the command lines of processes with the mark, by pid."""
    wanted = f"{MARK}={mark}".encode()
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                if wanted in file.read().split(b"\0"):
                    with open(f"/proc/{pid}/cmdline", "rb") as line:
                        found[int(pid)] = (
                            line.read().replace(b"\0", b" ").decode(errors="replace").strip()
                        )
        except OSError:
            pass  # ended, or not ours
    return found


def kill_all(mark):
    for pid in marked(mark):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def leftovers(mark):
    """
    Returns descriptions of everything that a job leaves behind.  Launchers get a moment to reap.
    """
    for _ in range(50):
        if not marked(mark):
            break
        time.sleep(0.1)
    left = [f"process {pid} ({line})" for pid, line in marked(mark).items() if line]
    left += [
        f"/dev/shm/{name}"
        for name in set(os.listdir("/dev/shm")) - NAMES_BEFORE
        if "huddle" in name
    ]
    kill_all(mark)
    return left


class Job:
    """A started job of one case under one MPI."""

    def __init__(self, setting, case: Case, mpi, folder):
        self.case, self.mpi, self.folder, self.mark = case, mpi, folder, uuid.uuid4().hex
        self.huddle, self.complaints = setting.huddle, []  # complaints of case.during
        self.stats = os.path.join(folder, "stats.json")
        programs = os.path.join(setting.build, "tests", "mpi")
        words = {
            "bin": os.path.join(programs, peers.abi(mpi)),
            "tools": programs,
            "fake": os.path.join(setting.build, "test", "fake"),
            "folder": folder,
            "seed": str(time.time_ns() % 10**6),
        }
        launch, env = peers.launcher(
            setting.wheels,
            mpi,
            case.ranks,
            case.bind,
            case.launch.get(mpi, case.launch.get(peers.abi(mpi), ())),
        )
        command = [
            word.format(**words)
            for word in case.command
            if not (setting.plain and word == "--beyond")
        ]
        command = (
            case.outside(words)
            + ([] if setting.plain else [setting.huddle, "run", "--"])
            + launch
            + case.each(words)
            + command
        )
        self.env = {
            **os.environ,
            **env,
            MARK: self.mark,
            # In Open MPI the end of a job removes the folder in which another job begins.
            "TMPDIR": os.path.join(folder, "tmp"),
            # Cases do not learn from each other.
            "XDG_CACHE_HOME": os.path.join(folder, "tmp"),
            # For Open MPI's own waits, on machines where several cases share the processors.
            **({} if case.bind else {"OMPI_MCA_mpi_yield_when_idle": "1"}),
            "HUDDLE_STATS": "json:" + self.stats,
            "HUDDLE_NONBLOCKING": "on",  # auto does not cover all MPIs
            **{name: value.replace("{folder}", folder) for name, value in case.env.items()},
        }
        if setting.plain:
            self.env = {
                name: value for name, value in self.env.items() if not name.startswith("HUDDLE")
            }
        self.command = command
        self.output = open(os.path.join(folder, "output"), "w+b")
        self.process = subprocess.Popen(
            command,
            env=self.env,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=self.output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def text(self):
        with open(self.output.name, "rb") as file:
            return file.read().decode(errors="replace")

    def wait(self):
        """Returns the exit status, or None if the job was killed after its time."""
        try:
            if self.case.during:
                self.case.during(self)
            return self.process.wait(self.case.seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            if self.process.poll() is None:
                os.killpg(self.process.pid, signal.SIGKILL)
                kill_all(self.mark)
                self.process.wait()
            self.output.close()


FATAL = re.compile(
    r"huddle: fatal error in MPI_\w+ on \S+, rank \d+: (Message truncated|Other MPI error)$"
)


def judge_lines(case, text):
    lines = [line[line.index("huddle: ") :] for line in text.splitlines() if "huddle: " in line]
    if (
        case.fails is None
    ):  # an error ends the job: under MPICH each rank that has it may print a line
        lines = [line for line in lines if not FATAL.match(line)]
    wanted, allowed = list(case.says), list(case.may_say)
    for line in lines:
        match = next((pattern for pattern in wanted if re.search(pattern, line)), None)
        if match is None:
            other = next((pattern for pattern in allowed if re.search(pattern, line)), None)
            if other is not None:
                allowed.remove(other)
                continue
            yield f"unexpected line: {line}"
        elif not case.says_each:
            wanted.remove(match)
    if not case.says_each:
        yield from (f"no line like: {pattern}" for pattern in wanted)
    elif not lines:
        yield f"no line like: {case.says}"


def judge_statistics(case, job, text):
    if case.handled is None and not case.passed:
        return
    try:
        with open(job.stats) as file:
            stats = json.load(file)
    except (OSError, ValueError) as error:
        yield f"no statistics: {error}"
        return
    left = sum(
        stats["collectives"][name].get("passed", {}).get(why, 0)
        for name in case.collectives
        for why in case.leaves
    )
    told = re.search(r"^(\d+) calls fall back to the MPI$", text, re.MULTILINE)
    min_left = int(told[1]) if told else 0
    max_left = (
        3 * min_left if peers.abi(job.mpi) == "openmpi" else min_left
        # Open MPI's reductions may call other reductions of the communicator; version 5 without
        # Fortran has more of them on MPI_REAL16
    )
    if case.leaves and not min_left <= left <= max_left:
        yield f"{left} calls passed for {case.leaves}; the program: {told[0] if told else 'none'}"
    if case.tried and stats["learned"]["decided"] == 0:
        yield "no second algorithm was tried"
    if case.tried and min(stats["learned"][source] for source in ("first", "trials")) == 0:
        yield f"no calls are counted by choice: {stats['learned']}"
    for name, one in stats["collectives"].items():
        if name not in case.collectives:
            continue
        reasons = {
            why: count
            for why, count in one.get("passed", {}).items()
            if count
            and why not in case.also_passed
            and why not in case.leaves
            and not (
                case.env.get("HUDDLE_WISDOM") != "off"
                and why in ("native collective faster", "trial of the native collective")
                and not (case.passed and re.search(case.passed, why))
                and (  # no trial may change the result of a reduction
                    name not in COLLECTIVES["reductions"]
                    or case.env.get("HUDDLE_LAB_TRY_ALL") == "on"
                )
            )
        }
        if case.handled is True and (one["handled"] == 0 or (reasons and not case.passed)):
            yield f"{name}: {one['handled']} of {one['calls']} handled, passed {one.get('passed')}"
        if case.handled is False and one["handled"]:
            yield (
                f"{name}: {one['handled']} of {one['calls']} handled, passed {one.get('passed')},"
                " none expected"
            )
        if case.passed and not any(re.search(case.passed, why) for why in reasons):
            yield f"{name}: passed for {reasons}, not for '{case.passed}'"
        if one["calls"] != one["handled"] + sum(one.get("passed", {}).values()):
            yield f"{name}: {one} does not add up"
        if case.handled is True and name != "barrier" and one["bytes"] == 0:
            yield f"{name}: {one['calls']} calls of no bytes"


def front_end(setting, mpi):
    name = {
        "ompi4": "openmpi-4.1/mca_coll_huddle.so",
        "ompi5": "openmpi-5.0/mca_coll_huddle.so",
    }.get(mpi, "libhuddle-mpich.so")
    return glob.glob(os.path.join(setting.build, "lib*", "**", "huddle", name), recursive=True)


def run_case(setting, case, mpi):
    """Returns the complaints about a case; empty if it passed."""
    with tempfile.TemporaryDirectory(prefix="mpi-test-") as folder:
        os.chmod(folder, 0o755)
        os.mkdir(os.path.join(folder, "tmp"))
        os.chmod(os.path.join(folder, "tmp"), 0o1777)
        case.prepare(folder)
        try:
            job = Job(setting, case, mpi, folder)
            status = job.wait()
            text = job.text()
            bad = list(job.complaints)
            if status is None:
                bad.append(f"still running after {case.seconds} s")
            elif case.fails is not None and case.fails != (status != 0):
                bad.append(f"exit status {status}")
            bad += [
                f"output lacks: {pattern}"
                for pattern in case.prints
                if not re.search(pattern, text)
            ]
            bad += ["left behind: " + what for what in leftovers(job.mark)]
            if not setting.plain:
                bad += list(judge_lines(case, text)) + list(judge_statistics(case, job, text))
            if bad:
                bad += ["command: " + " ".join(job.command)] + [
                    "| " + line for line in text.splitlines()[-25:]
                ]
            return bad
        finally:
            case.clean(folder)


def all_cases(setting):
    if setting.plain:
        return [*CASES, *MISMATCHES, *WATCHED, *SOAKS]
    env = {**os.environ, "XDG_CACHE_HOME": "/dev/null"}
    facts, team = (
        subprocess.run(
            [setting.huddle, *words, "--json"], env=env, capture_output=True, check=True, text=True
        )
        for words in (["info"], ["explain", "bcast"])
    )
    return [
        *CASES,
        *MISMATCHES,
        *LEARNED_SPANS,
        *ACCIDENTS,
        *HANDED_OVER,
        *WATCHED,
        *SOAKS,
        *DEVICES,
        *forced(json.loads(facts.stdout)["algorithms"], json.loads(team.stdout)["direct"]),
    ]


def chosen(setting, case):
    """Returns the MPIs of a case; in brief always the same MPI."""
    mpis = [mpi for mpi in case.mpis if mpi in setting.mpis]
    if not setting.brief or not mpis:
        return mpis
    mpis = [mpi for mpi in mpis if mpi not in peers.WHEELS] or mpis
    return [mpis[zlib.crc32(f"{case.group}: {case.name}".encode()) % len(mpis)]]


def brief(case):
    """Returns the case with smaller messages if it tests conditions around the program."""
    whole = case.command[0] != DIFFERENTIAL[0] or {"--most", "--seconds"} & {*case.command}
    if whole or case.group in ("differential", "algorithms"):
        return case
    return replace(case, command=[*case.command, "--most", "20000"])


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--build",
        required=True,
        help="build tree, or prefix of an installation with the tests' programs below tests/mpi",
    )
    parser.add_argument("--wheels", help="folder of peers.py setup; default BUILD/peers")
    parser.add_argument(
        "--full", action="store_true", help="the long cases instead of the normal ones"
    )
    parser.add_argument(
        "--brief",
        action="store_true",
        help="each case under one MPI only, in small; what is shown twice, once",
    )
    parser.add_argument(
        "--mpis",
        type=lambda text: text.split(","),
        default=peers.NAMES,
        metavar="MPI,...",
        help="under these MPIs only",
    )
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--only", default="", help="cases whose 'name mpi' contains this")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("groups", nargs="*")
    setting = parser.parse_args()
    setting.build = os.path.abspath(setting.build)
    setting.wheels = os.path.abspath(setting.wheels or os.path.join(setting.build, "peers"))
    setting.huddle = os.path.join(setting.build, "bin", "huddle")

    good = failed = skipped = 0
    for case in all_cases(setting):
        if setting.brief and case.again:
            continue
        for mpi in chosen(setting, case):
            name = f"{case.group}: {case.name} {mpi}"
            if (
                case.full != setting.full
                or (setting.groups and case.group not in setting.groups)
                or setting.only not in name
            ):
                continue
            if setting.list:
                print(name)
                continue
            start = time.monotonic()
            try:
                if not peers.installed(setting.wheels, mpi):
                    raise NotHere("not installed")
                no_front = not setting.plain and not front_end(setting, mpi)
                bad = (
                    ["the MPI is here, but huddle was built without its front end"]
                    if no_front
                    else run_case(setting, brief(case) if setting.brief else case, mpi)
                )
            except NotHere as why:
                print(f"{name:55} skipped: {why}", flush=True)
                skipped += 1
                continue
            print(
                f"{name:55} {'FAILED' if bad else 'ok'} {time.monotonic() - start:6.1f} s",
                flush=True,
            )
            for line in bad:
                print("    " + line, flush=True)
            good, failed = good + (not bad), failed + bool(bad)
    print(f"{good} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed else 77 if skipped and not good else 0)


if __name__ == "__main__":
    main()
