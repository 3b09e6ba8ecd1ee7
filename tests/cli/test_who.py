# SPDX-License-Identifier: BSD-3-Clause
"""
Tests huddle who on teams of forked processes (examples/team), with a process stopped or killed, and
on processes that are not a job.
"""

import contextlib
import ctypes
import fcntl
import json
import mmap
import os
import re
import signal
import subprocess
import time
import unittest

from paths import BUILD

from cli.who import text

HUDDLE = os.path.join(BUILD, "bin", "huddle")
TEAM = os.path.join(BUILD, "examples", "team")
SECONDS, RANKS, FOR_EVER = 60, 3, "2000000000"
NAME, SIZE = "huddle", 1 << 20
MARK = 128  # offset of the owner in an arena's head


def environment(**more):
    return {
        **{k: v for k, v in os.environ.items() if not k.startswith("HUDDLE") and k != "LD_PRELOAD"},
        **more,
    }


def who(*words, **more):
    return subprocess.run(
        [HUDDLE, "who", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
        timeout=SECONDS,
        check=False,
        **more,
    )


@contextlib.contextmanager
def running(*command, **variables):
    job = subprocess.Popen(
        command,
        env=environment(**variables),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        yield job
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(job.pid, signal.SIGKILL)
        job.communicate()


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


def until(found, seconds=SECONDS):
    """Returns the result of `found` once it is not empty."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        answer = found()
        if answer:
            return answer
        time.sleep(0.05)
    raise AssertionError(f"not within {seconds} s")


def told(pid, *patterns, seconds=SECONDS):
    """Returns the answer that has lines like all of these."""
    last = None

    def asks():
        nonlocal last
        last = who(pid)
        return (
            all(re.search("(?m)^" + pattern, last.stdout) for pattern in patterns) and last.stdout
        )

    try:
        return until(asks, seconds)
    except AssertionError as late:
        raise AssertionError(f"{late}: {patterns}, but\n{last.stdout}{last.stderr}") from None


def ranks_of(job):
    return until(lambda: len(children(job.pid)) == RANKS and children(job.pid))


NOTHING = (
    r"3 ranks: none is waiting in a huddle collective \(waits shorter than 50 ms are not shown\)$"
)
HEAD = r"a team \(3 ranks\): call \d+, (barrier|bcast of \S+ \w+, root \d) \(\w+\)$"


def waits(rank, pid):
    return (
        rf"  rank {rank} \(process {pid}\) has waited [0-9.]+ s at [A-Z]+\w* \(alg/\S+\.[ch]:\d+\)"
        r" for a (partner's post|post in rank \d's slice)$"
    )


def stop(job, pids, rank):
    """
    Stops a rank.  The others then wait for the rank.  A rank stopped before its first call, as
    happens on a busy machine, continues for a while.
    """
    others = [waits(one, pid) for one, pid in enumerate(pids) if one != rank]
    for seconds in (5, 5, 10, 20, SECONDS):
        os.kill(pids[rank], signal.SIGSTOP)
        try:
            told(job.pid, *others, seconds=seconds)
            return
        except AssertionError:
            if seconds == SECONDS:
                raise
        os.kill(pids[rank], signal.SIGCONT)
        time.sleep(0.5)


class Teams(unittest.TestCase):
    def test_a_stopped_rank_is_named_for_any_process_of_the_job(self):
        with running(TEAM, str(RANKS), FOR_EVER) as job:
            pids = ranks_of(job)
            told(job.pid, NOTHING)
            stop(job, pids, 1)
            for asked in (job.pid, pids[0], pids[1]):
                text = told(
                    asked,
                    HEAD,
                    waits(0, pids[0]),
                    waits(2, pids[2]),
                    rf"  not waiting in this call: rank 1 \(process {pids[1]}\): stopped by a"
                    r" signal",
                )
                self.assertEqual(1, len(re.findall("(?m)^" + HEAD, text)), text)
                self.assertEqual(RANKS - 1, text.count("has waited"), text)
            os.kill(pids[1], signal.SIGCONT)
            told(job.pid, NOTHING)

    def test_a_waiting_rank_that_is_stopped_is_marked(self):
        with running(TEAM, str(RANKS), FOR_EVER) as job:
            pids = ranks_of(job)
            told(job.pid, NOTHING)
            stop(job, pids, 1)
            os.kill(pids[2], signal.SIGSTOP)
            told(job.pid, waits(2, pids[2])[:-1] + "; its process is stopped by a signal")

    def test_a_dead_rank_is_named(self):
        with running(TEAM, str(RANKS), FOR_EVER) as job:
            pids = ranks_of(job)
            told(job.pid, NOTHING)
            stop(job, pids, 2)
            os.kill(pids[2], signal.SIGKILL)
            for asked in (job.pid, pids[0]):
                told(
                    asked,
                    HEAD,
                    waits(0, pids[0]),
                    waits(1, pids[1]),
                    rf"  not waiting in this call: rank 2 \(process {pids[2]}\): has ended$",
                )

    def test_json(self):
        with running(TEAM, str(RANKS), FOR_EVER) as job:
            pids = ranks_of(job)
            told(job.pid, NOTHING)
            stop(job, pids, 0)
            facts = json.loads(who("--json", job.pid).stdout)
            self.assertEqual(pids, [rank["pid"] for rank in facts["ranks"]])
            self.assertEqual([0, 1, 2], [rank["world_rank"] for rank in facts["ranks"]])
            (call,) = facts["calls"]
            self.assertEqual(
                [(1, pids[1]), (2, pids[2])], [(one["rank"], one["pid"]) for one in call["waiting"]]
            )
            self.assertEqual(
                [(0, pids[0], "T")],
                [(one["rank"], one["pid"], one["state"]) for one in call["absent"]],
            )
            self.assertTrue(
                all(0.05 <= one["waited_s"] < 10 * SECONDS for one in call["waiting"]), call
            )
            self.assertEqual([], facts["problems"])

    def test_results_are_the_same(self):
        answers = []
        # The job makes more calls if an answer takes long, as on a busy machine.
        for calls in (20_000, 200_000, 2_000_000):
            with running(TEAM, str(RANKS), str(calls)) as job:
                while job.poll() is None:
                    answers.append(who(job.pid))
                self.assertEqual(0, job.returncode, job.stdout.read())
            if any(answer.returncode == 0 for answer in answers):
                return
        self.fail(answers)

    def test_ranks_that_are_threads(self):
        with running(TEAM, "--threads", str(RANKS), FOR_EVER) as job:
            told(job.pid, NOTHING)

    def test_a_process_that_inherited_a_descriptor_is_not_a_rank(self):
        with running(TEAM, str(RANKS), FOR_EVER) as job:
            pids = ranks_of(job)
            told(job.pid, NOTHING)
            names = [
                name
                for name in os.listdir(f"/proc/{pids[0]}/fd")
                if os.readlink(f"/proc/{pids[0]}/fd/{name}").startswith("/memfd:huddle")
            ]
            held = [os.open(f"/proc/{pids[0]}/fd/{name}", os.O_RDONLY) for name in names]
            self.assertEqual(
                pids, [rank["pid"] for rank in json.loads(who("--json", job.pid).stdout)["ranks"]]
            )
            for fd in held:
                os.close(fd)

    def test_ranks_in_a_pid_namespace(self):
        if (
            subprocess.run(
                ["unshare", "--pid", "--fork", "--mount-proc", "true"],
                check=False,
                capture_output=True,
            ).returncode
            != 0
        ):
            self.skipTest("this user cannot make a PID namespace")
        with running(
            "unshare", "--pid", "--fork", "--mount-proc", "--kill-child", TEAM, str(RANKS), FOR_EVER
        ) as job:
            (first,) = until(lambda: children(job.pid))
            pids = until(lambda: len(children(first)) == RANKS and children(first))
            told(job.pid, NOTHING)
            stop(job, pids, 1)
            told(
                pids[2],
                HEAD,
                waits(0, pids[0]),
                waits(2, pids[2]),
                rf"  not waiting in this call: rank 1 \(process {pids[1]}\): stopped by a signal",
            )

    def test_ranks_are_found_by_the_job_of_their_launcher(self):
        mine = f"of-this-test-{os.getpid()}"  # unique: the test may run twice on a machine
        with (
            running("sleep", "1000", HUDDLE_JOB=mine) as launcher,
            running(TEAM, str(RANKS), FOR_EVER, HUDDLE_JOB=mine) as job,
            running(TEAM, str(RANKS), FOR_EVER, HUDDLE_JOB=f"not-{mine}"),
        ):
            pids = ranks_of(job)
            told(launcher.pid, NOTHING)
            self.assertEqual(
                pids,
                [rank["pid"] for rank in json.loads(who("--json", launcher.pid).stdout)["ranks"]],
            )

    def test_watch_ends_with_the_job(self):
        with running(TEAM, str(RANKS), FOR_EVER) as job:
            told(job.pid, NOTHING)
            with running(HUDDLE, "who", "--watch", "0.2", str(job.pid)) as watch:
                lines = [watch.stdout.readline() for _ in range(6)]
                self.assertTrue(any(re.match(r"\d\d:\d\d:\d\d$", line) for line in lines), lines)
                os.killpg(job.pid, signal.SIGKILL)
                job.wait()
                self.assertEqual(0, watch.wait(SECONDS), watch.stdout.read())
            with running(TEAM, str(RANKS), FOR_EVER) as other:
                told(other.pid, NOTHING)
                with running(HUDDLE, "who", "--watch", "0.2", str(other.pid)) as watch:
                    watch.stdout.readline()
                    watch.send_signal(signal.SIGINT)
                    self.assertEqual(130, watch.wait(SECONDS))


def a_file(size=SIZE, sealed=True, content=b""):
    """Returns a descriptor like an arena's."""
    fd = os.memfd_create(NAME, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, size)
    os.pwrite(fd, content, MARK)
    if sealed:
        fcntl.fcntl(fd, 1033, 6)  # F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW
    return fd


def refused(test, pid, line, status=1):
    answer = who(pid)
    test.assertEqual(status, answer.returncode, answer.stdout)
    test.assertRegex(answer.stderr, r"^huddle( who)?: [^\n]*\n$")
    test.assertRegex(answer.stderr, line)


class Words(unittest.TestCase):
    def test_stages_without_an_algorithm_are_named(self):
        call = {"call": 7, "bytes": 0, "root": -1, "algorithm": ""}
        for collective, expected in (
            ("set-up", "set-up, after call 7"),
            ("check of calls", "check of calls, after call 7"),
            ("error recovery", "error recovery, after call 7"),
        ):
            self.assertEqual(expected, text.call_text({**call, "collective": collective}))


class WrongUse(unittest.TestCase):
    def test_no_pid(self):
        for words in (
            (),
            ("x",),
            ("0",),
            ("-1",),
            ("1.5",),
            ("1", "2"),
            ("1", "--watch", "no"),
            ("1", "--watch", "0"),
        ):
            answer = who(*words)
            with self.subTest(words=words):
                self.assertEqual((2, ""), (answer.returncode, answer.stdout))
                self.assertRegex(answer.stderr, r"^huddle( who)?: [^\n]*\n$")

    def test_no_such_process(self):
        with running("true") as job:
            job.wait()
        refused(self, job.pid, f"there is no process {job.pid} on this node")
        refused(self, 2**40, "there is no process")

    def test_without_huddle(self):
        with running("sleep", "1000") as job:
            refused(self, job.pid, rf"process {job.pid} \(sleep\) has neither huddle nor an MPI")
            with running(TEAM, str(RANKS), FOR_EVER) as team:
                ranks_of(team)
                told(team.pid, NOTHING)
                refused(
                    self, job.pid, r"on this node\? Ranks that use huddle here: \d+ \([^)\n]+\)"
                )

    def test_huddle_without_memory(self):
        with running(HUDDLE, "run", "--", "sleep", "1000") as job:
            until(lambda: os.readlink(f"/proc/{job.pid}/exe").endswith(("sleep", "coreutils")))
            refused(
                self, job.pid, "has huddle loaded, but no shared memory: .*HUDDLE=off.*one rank"
            )

    def test_a_team_of_one(self):
        with running(TEAM, "1", FOR_EVER) as job:
            until(lambda: children(job.pid))
            refused(self, job.pid, "have huddle loaded, but no shared memory: .*one rank")

    def test_descriptor_closed(self):
        fd = a_file()
        libc = ctypes.CDLL(None)
        libc.mmap.restype = ctypes.c_void_p
        mapping = ctypes.c_void_p(
            libc.mmap(
                None, ctypes.c_size_t(SIZE), mmap.PROT_READ, mmap.MAP_SHARED, fd, ctypes.c_long(0)
            )
        )  # mmap.mmap() would duplicate the descriptor
        os.close(fd)
        refused(self, os.getpid(), "descriptor is closed .*cannot be read")
        libc.munmap(mapping, ctypes.c_size_t(SIZE))

    def test_foreign_files_are_distinguished_from_arenas(self):
        other = b"huddle\1\0" + bytes(range(8)) + b"9.9.9".ljust(16, b"\0") + bytes(8)
        for expected, how in (
            ("not huddle's", {"sealed": False, "content": other}),
            ("not huddle's, of an older version", {}),
            ("not huddle's", {"size": 100}),
            (
                r"of another build of huddle \(version 9\.9\.9, layout [0-9a-f]{8}; this one:"
                r" version [^,]*, layout [0-9a-f]{8}\): use that build's 'huddle who'",
                {"content": other},
            ),
        ):
            fd = a_file(**how)
            with self.subTest(expected=expected, how=how):
                refused(self, os.getpid(), f"process {os.getpid()}: .*{expected}")
            os.close(fd)

    def test_arenas_of_another_build_are_reported(self):
        other = b"huddle\1\0" + bytes(range(8)) + b"9.9.9".ljust(16, b"\0") + bytes(8)
        fd = a_file(content=other)
        self.addCleanup(os.close, fd)
        with running(TEAM, str(RANKS), FOR_EVER) as job:
            ranks_of(job)
            told(job.pid, NOTHING)
            answer = who(os.getpid())
        self.assertEqual((1, ""), (answer.returncode, answer.stderr))
        first, second, last = answer.stdout.splitlines()
        self.assertRegex(first, f"^not read: process {os.getpid()}: of another build")
        self.assertEqual("so the following is incomplete", second)
        self.assertRegex(last, NOTHING)

    def test_another_users_process_is_refused(self):
        if os.geteuid() != 0:
            refused(self, 1, "process 1 .* belongs to user")
            return
        try:
            subprocess.run(
                [HUDDLE, "--version"],
                user=65534,
                group=65534,
                extra_groups=(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                check=True,
            )
        except (OSError, subprocess.CalledProcessError):
            self.skipTest("another user cannot run this build of huddle")
        with running(TEAM, str(RANKS), FOR_EVER) as job:
            ranks_of(job)
            answer = who(job.pid, user=65534, group=65534, extra_groups=())
            self.assertEqual(1, answer.returncode)
            self.assertRegex(
                answer.stderr,
                rf"^huddle: process {job.pid} \(team\) belongs to user \w+, .*: run this as that"
                r" user or as root\n$",
            )
