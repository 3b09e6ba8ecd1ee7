# SPDX-License-Identifier: BSD-3-Clause
"""
The program bench-trials, that compares settings in turn on one team of processes (bench/trials.c
says what its lines mean).
"""

import contextlib
import json
import math
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections import namedtuple

from .layout import Trouble

# The user's settings that stay in effect while tune measures.  Those that choose an algorithm, or
# print reports, would interfere.
KEPT = (
    "HUDDLE_MEMORY",
    "HUDDLE_LEASE",
    "HUDDLE_LEVELS_OFF",
    "HUDDLE_PLACEMENT",
    "HUDDLE_WAIT",
    "HUDDLE_STREAM",
    "HUDDLE_LINES",
    "HUDDLE_PREFETCH",
    "HUDDLE_CMA",
    "HUDDLE_XPMEM",
    "HUDDLE_HUGE_PAGES",
    "HUDDLE_REDUCE_ORDER",
)
START_S = 60
SLACK_S = 5  # what an answer may take beyond the limit of its comparison
LATE_S = 0.5  # the same where the time of this part of the work ends
LINE_EVERY_S = 2  # measuring it takes as long as several comparisons
PATIENCE = 2  # limit of a comparison on a busy machine, as a multiple of its time
# seconds: of all candidates together.  low, high: shots of each.  loop: calls back to back in a
# sample, 0 for single shots.  line: the answer has the line transfer, of that moment or shortly
# before.  limit_s: when it ends with the shots that it has; None: PATIENCE * seconds.
Plan = namedtuple("Plan", "seconds low high loop line limit_s", defaults=[None])
STOPS = (-signal.SIGINT, -signal.SIGTERM, -signal.SIGHUP)


def kept_settings():
    """The user's settings that stay in effect during measurements."""
    return {name: os.environ[name] for name in KEPT if name in os.environ}


def environment():
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("HUDDLE")},
        **kept_settings(),
    }


class Ended(Trouble):
    """The processes did not answer in time, or died."""


class Trials:
    """
    One team; `candidates` are texts of settings, a line each.  left: a function that gives the
    seconds until the processes are ended, whatever they do.
    """

    def __init__(self, layout, team, candidates, left=lambda: START_S):
        self.left = left
        self.line_at, self.line = -math.inf, {"line_before_ns": -1, "line_after_ns": -1}
        self.errors = tempfile.TemporaryFile(mode="w+", encoding="utf-8")
        command = [
            os.path.join(layout.tools, "bench-trials"),
            "--ranks",
            str(team.ranks),
            "--bind",
            team.bind,
            *candidates,
        ]
        try:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self.errors,
                text=True,
                env=environment(),
            )
        except OSError as error:
            raise Trouble(f"cannot run {command[0]}: {error.strerror}") from error
        try:
            self.answer(START_S)
        except Ended:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        with contextlib.suppress(BrokenPipeError):  # of a question that nobody has read
            self.process.stdin.close()
        try:
            self.process.wait(timeout=min(5, self.left() + LATE_S))
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.errors.close()

    def answer(self, limit_s):
        watch = threading.Timer(min(limit_s, self.left() + LATE_S), self.process.kill)
        watch.daemon = True  # an interrupt while it starts leaves it behind: nobody waits for it
        try:
            watch.start()
            line = self.process.stdout.readline()
        finally:
            watch.cancel()
        if line:
            return json.loads(line)
        self.process.kill()
        if self.process.wait() in STOPS:
            time.sleep(
                1
            )  # what stops all processes is on its way to this one: the exception comes here
        self.errors.seek(0)
        said = self.errors.read().strip().split("\n")[-1]
        raise Ended(f"bench-trials ended before it answered{': ' + said if said else ''}")

    def compare(self, collective, size, plan, which):
        """
        The answer of bench-trials about the candidates numbered in `which`: a figure for each.
        """
        seconds = min(plan.seconds, self.left())
        labelled = plan.line and time.monotonic() - self.line_at >= LINE_EVERY_S
        figure_us = max(1, int(seconds * 1e6 / len(which)))
        limit_s = plan.limit_s or PATIENCE * seconds
        limit_us = max(1000, int(min(limit_s, self.left()) * 1e6))
        words = (collective, size, figure_us, plan.low, plan.high, plan.loop, limit_us)
        try:
            print(
                *words,
                int(labelled),
                ",".join(map(str, which)),
                file=self.process.stdin,
                flush=True,
            )
        except BrokenPipeError:
            pass  # what it said is told below
        answer = self.answer(SLACK_S + limit_us / 1e6)
        if labelled:
            self.line_at = time.monotonic()
            self.line = {key: answer[key] for key in self.line}
        answer.update(self.line)
        if any(figure["wrong"] for figure in answer["figures"]):
            raise Trouble(f"{collective} of {size} bytes gave wrong bytes: please report it")
        return answer


def times_of(answer):
    """{candidate's number: times} of those that took the call."""
    return {
        figure["candidate"]: figure["took_ns"]
        for figure in answer["figures"]
        if figure["refused"] == 0 and figure["took_ns"]
    }
