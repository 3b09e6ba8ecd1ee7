# SPDX-License-Identifier: BSD-3-Clause
"""Tests of cli/common/stop.py: a signal that comes while a process starts."""

from __future__ import annotations

import signal
import subprocess
import unittest

from cli.common import stop

# Interrupts its parent first, mostly before the parent's Popen has returned.
COMMAND = ["sh", "-c", "kill -INT $PPID; exec sleep 60"]


class Start(unittest.TestCase):
    def test_a_signal_during_the_start_leaves_no_process(self):
        for _ in range(20):
            job, listen_again = stop.start(COMMAND, stdout=subprocess.DEVNULL)
            with self.assertRaises(KeyboardInterrupt):
                try:
                    listen_again()
                    job.wait(timeout=30)
                finally:
                    job.terminate()
                    job.wait(timeout=30)
            self.assertEqual(-signal.SIGTERM, job.returncode)

    def test_the_process_gets_signals(self):
        job, listen_again = stop.start(["sleep", "60"])
        listen_again()
        job.send_signal(signal.SIGINT)
        self.assertEqual(-signal.SIGINT, job.wait(timeout=30))

    def test_a_command_that_does_not_exist_leaves_the_handlers_as_they_were(self):
        before = [signal.getsignal(number) for number in stop.NUMBERS]
        with self.assertRaises(FileNotFoundError):
            stop.start(["/no/such/command"])
        self.assertEqual(before, [signal.getsignal(number) for number in stop.NUMBERS])

    def test_an_ignored_signal_stays_ignored(self):
        before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
        try:
            job, listen_again = stop.start(["sh", "-c", "kill -HUP $$ $PPID"])
            listen_again()
            self.assertEqual(0, job.wait(timeout=30))
            self.assertEqual(signal.SIG_IGN, signal.getsignal(signal.SIGHUP))
        finally:
            signal.signal(signal.SIGHUP, before)


if __name__ == "__main__":
    unittest.main()
