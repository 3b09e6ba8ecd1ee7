# SPDX-License-Identifier: BSD-3-Clause
"""
The program bench-trials, that compares settings in turn on one team of processes (bench/trials.c
says what its lines mean).
"""

from __future__ import annotations

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
from typing import Any

from ..common.launching import WISDOM
from ..common.layout import CliError, Layout

# The user's settings that stay in effect while settings are compared.  Those that choose an
# algorithm, or print reports, would interfere, and so would a choice that was learned.
KEPT = (
    "HUDDLE_MEMORY",
    "HUDDLE_LEASE",
    "HUDDLE_LAB_LEVELS_OFF",
    "HUDDLE_LAB_PLACEMENT",
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
LINE_EVERY_S = 2  # measuring it takes as long as several comparisons
PATIENCE = 2  # limit of a comparison on a busy machine, as a multiple of its time
# seconds: of all candidates together.  low, high: shots of each.  loop: calls back to back in a
# sample, 0 for single shots.  line: the answer has the line transfer, of that moment or shortly
# before.  limit_s: when it ends with the shots that it has; None: PATIENCE * seconds.
Plan = namedtuple("Plan", "seconds low high loop line limit_s", defaults=[None])
STOPS = (-signal.SIGINT, -signal.SIGTERM, -signal.SIGHUP)


def environment() -> dict[str, str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("HUDDLE") or name in KEPT
    }
    return {**kept, WISDOM: "off"}


class Ended(CliError):
    """A team whose processes did not answer in time, or died."""


class Trials:
    """
    A team that tries candidates.  candidates: texts of settings.  limit_s: time limit of an answer.
    """

    def __init__(
        self, layout: Layout, team: Any, candidates: list[str], limit_s: float = START_S
    ) -> None:
        self.limit_s = limit_s
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
            self.process: Any = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self.errors,
                text=True,
                env=environment(),
            )
        except OSError as error:
            raise CliError(f"cannot run {command[0]}: {error.strerror}") from error
        try:
            self.answer(START_S)
        except Ended:
            self.close()
            raise

    def __enter__(self) -> Trials:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        with contextlib.suppress(BrokenPipeError):  # a question that nobody has read
            self.process.stdin.close()
        try:
            self.process.wait(timeout=SLACK_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.errors.close()

    def answer(self, limit_s: float) -> dict[str, Any]:
        watch = threading.Timer(min(limit_s, self.limit_s), self.process.kill)
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
        words = self.errors.read().strip().split("\n")[-1]
        raise Ended(f"bench-trials ended before it answered{': ' + words if words else ''}")

    def compare(self, collective: str, size: int, plan: Plan, which: list[int]) -> dict[str, Any]:
        """Returns bench-trials' answer: a figure for each candidate numbered in `which`."""
        seconds = min(plan.seconds, self.limit_s)
        labelled = plan.line and time.monotonic() - self.line_at >= LINE_EVERY_S
        figure_us = max(1, int(seconds * 1e6 / len(which)))
        limit_s = plan.limit_s or PATIENCE * seconds
        limit_us = max(1000, int(min(limit_s, self.limit_s) * 1e6))
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
            pass  # answer() raises Ended with the program's last line
        answer = self.answer(SLACK_S + limit_us / 1e6)
        if labelled:
            self.line_at = time.monotonic()
            self.line = {key: answer[key] for key in self.line}
        answer.update(self.line)
        if any(figure["wrong"] for figure in answer["figures"]):
            raise CliError(f"{collective} of {size} bytes gave wrong bytes: please report it")
        return answer


def times_of(answer: dict[str, Any]) -> dict[int, list[float]]:
    """Returns {candidate's number: times} of the candidates that handled the call."""
    return {
        figure["candidate"]: figure["took_ns"]
        for figure in answer["figures"]
        if figure["refused"] == 0 and figure["took_ns"]
    }
