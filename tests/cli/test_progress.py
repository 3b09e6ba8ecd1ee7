# SPDX-License-Identifier: BSD-3-Clause
"""Tests the progress of a command, with and without a terminal."""

import contextlib
import io
import os
import threading
import types
import unittest
from unittest import mock

from harness import without_progress

from cli.common import progress


class Heard(io.StringIO):
    """An output that is recorded.  A test can wait for two more lines."""

    def __init__(self):
        super().__init__()
        self.lines = threading.Semaphore(0)

    def write(self, text):
        super().write(text)
        for _ in range(text.count("\n")):
            self.lines.release()
        return len(text)

    def wait(self):
        while self.lines.acquire(blocking=False):
            pass
        if not all(self.lines.acquire(timeout=60) for _ in range(2)):
            raise AssertionError("nothing more is said")


class Lines(unittest.TestCase):
    def heard(self, work, **how):
        out = Heard()
        with (
            contextlib.redirect_stderr(out),
            mock.patch.object(progress, "PERIOD_S", 0.001),
            progress.Progress(7, **how) as p,
        ):
            work(p, out)
        return out.getvalue()

    @staticmethod
    def wait(p, out):
        p.step()
        out.wait()

    def test_long_work_is_reported_repeatedly(self):
        lines = self.heard(self.wait, words="simulating").splitlines()
        self.assertGreaterEqual(len(lines), 2)
        self.assertRegex(lines[-1], r"^huddle: 1 of 7 done; simulating, \d+ s so far$")

    def test_nested_progress_is_reported_with_the_outer(self):
        def work(p, out):
            with progress.Progress(5, "measuring") as inner:
                inner.step()
                out.wait()
                inner.stage("once more")

        lines = self.heard(work, words="this machine").splitlines()
        self.assertRegex(
            lines[-1],
            r"^huddle: 0 of 7 done; this machine: (measuring|once more), 1 of 5, \d+ s so far$",
        )
        self.assertTrue(
            all(line.startswith("huddle: 0 of 7 done; this machine") for line in lines), lines
        )
        self.assertIsNone(progress.Progress.outermost)

    def test_the_third_level_of_progress_is_not_reported(self):
        def work(_p, out):
            with progress.Progress(5, "bcast"), progress.Progress(9, "simulating") as third:
                third.step()
                out.wait()

        lines = self.heard(work, words="this machine").splitlines()
        self.assertRegex(
            lines[-1], r"^huddle: 0 of 7 done; this machine: bcast, 0 of 5, \d+ s so far$"
        )
        self.assertIsNone(progress.Progress.inner)

    def test_short_work_is_quiet(self):
        with (
            mock.patch.object(progress, "PERIOD_S", 1000),
            contextlib.redirect_stderr(io.StringIO()) as out,
            progress.Progress(2, "simulating") as p,
        ):
            p.step()
        self.assertEqual("", out.getvalue())

    def test_tests_can_remove_progress_lines(self):
        self.assertEqual(
            "huddle: x\n",
            without_progress(
                types.SimpleNamespace(stderr=f"{self.heard(self.wait, words='w')}huddle: x\n")
            ).stderr,
        )

    def test_a_terminal_shows_a_bar(self):
        out = Heard()
        out.isatty = lambda: True
        with (
            mock.patch.dict(os.environ, TERM="xterm", COLUMNS="80"),
            contextlib.redirect_stderr(out),
            progress.Progress(4, "simulating") as p,
        ):
            p.step()
        self.assertRegex(out.getvalue(), r"(?s)simulating .*1/4")
