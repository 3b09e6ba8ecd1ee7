# SPDX-License-Identifier: BSD-3-Clause
"""
The program bench-trials, that compares settings in turn on one team of processes (bench/trials.c
says what its lines mean).
"""

import contextlib
import json
import os
import signal
import subprocess
import tempfile
import threading
import time

from ..common.layout import Trouble

# The user's settings that stay in effect while tune measures.  Those that choose an algorithm, or
# print reports, would interfere.
KEPT = (
    "HUDDLE_MEMORY",
    "HUDDLE_LEASE",
    "HUDDLE_LEVELS_OFF",
    "HUDDLE_PLACEMENT",
    "HUDDLE_WAIT",
    "HUDDLE_STREAM",
    "HUDDLE_CMA",
    "HUDDLE_REDUCE_ORDER",
)
START_S, SLACK_S, PATIENCE = (
    60,
    20,
    40,
)  # PATIENCE: maximum time of a comparison on a busy machine, as a multiple of the planned time
STOPS = (-signal.SIGINT, -signal.SIGTERM, -signal.SIGHUP)


def kept_settings():
    """The user's settings that stay in effect during measurements."""
    return {name: os.environ[name] for name in KEPT if name in os.environ}


def environment():
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("HUDDLE")},
        **kept_settings(),
    }


class Trials:
    """One team; `candidates` are texts of settings, a line each."""

    def __init__(self, layout, team, candidates):
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
        self.answer(START_S)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(BrokenPipeError):  # of a question that nobody has read
            self.process.stdin.close()
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.errors.close()

    def answer(self, limit_s):
        watch = threading.Timer(limit_s, self.process.kill)
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
        raise Trouble(f"bench-trials ended before it answered{': ' + said if said else ''}")

    def compare(self, collective, size, seconds, min_shots, max_shots, which):
        """
        The answer of bench-trials about the candidates numbered in `which`, `seconds` for all of
        them together.
        """
        figure_us = max(1, int(seconds * 1e6 / len(which)))
        try:
            print(
                collective,
                size,
                figure_us,
                min_shots,
                max_shots,
                ",".join(map(str, which)),
                file=self.process.stdin,
                flush=True,
            )
        except BrokenPipeError:
            pass  # what it said is told below
        answer = self.answer(SLACK_S + PATIENCE * seconds)
        if any(figure["wrong"] for figure in answer["figures"]):
            raise Trouble(f"{collective} of {size} bytes gave wrong bytes: please report it")
        return answer
