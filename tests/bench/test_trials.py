# SPDX-License-Identifier: BSD-3-Clause
"""Tests the comparisons of settings on one team of processes (huddle bench --compare)."""

import json
import os
import signal
import subprocess
import tempfile
import threading
import types
import unittest
from unittest import mock

from paths import BUILD

from cli.bench.trials import KEPT, Plan, Trials
from cli.common import stop

HUDDLE = os.path.join(BUILD, "bin", "huddle")


class Conditions(unittest.TestCase):
    def test_every_setting_is_classified_for_comparisons(self):
        rows = json.loads(
            subprocess.run(
                [HUDDLE, "settings", "--lab", "--json"], stdout=subprocess.PIPE, check=True
            ).stdout
        )["settings"]
        rows_of_info = json.loads(
            subprocess.run([HUDDLE, "info", "--json"], stdout=subprocess.PIPE, check=True).stdout
        )["algorithms"]
        algorithms = tuple(
            f"HUDDLE_LAB_{row['collective']}_{row['name']}_".upper() for row in rows_of_info
        )
        others = {row["name"] for row in rows if not row["name"].startswith(algorithms)} - set(KEPT)
        choices = {f"HUDDLE_{row['collective']}".upper() for row in rows_of_info}
        self.assertEqual(
            {
                "HUDDLE",
                *choices,
                "HUDDLE_TUNING",
                "HUDDLE_WISDOM",
                "HUDDLE_DEVICES",
                "HUDDLE_FIRST",
                "HUDDLE_NONBLOCKING",
                "HUDDLE_ON_DEATH",
                "HUDDLE_STATS",
                "HUDDLE_RECORD",
                "HUDDLE_LOG",
                "HUDDLE_CHECK",
                "HUDDLE_CHECK_TIMEOUT",
                "HUDDLE_JOB",
                "HUDDLE_NODES",
                "HUDDLE_LAB_PRIOR",
                "HUDDLE_LAB_TRY_ALL",
                "HUDDLE_LAB_NODES_TREE",
                "HUDDLE_LAB_NODES_DEGREE",
                "HUDDLE_LAB_NODES_FRAGMENT",
            },
            others,
        )


class Watch(unittest.TestCase):
    def test_an_interrupt_during_the_start_cancels_the_timer(self):
        begun = []

        class Interrupted(threading.Timer):
            def start(self):
                super().start()
                begun.append(self)
                raise KeyboardInterrupt

        trials = Trials.__new__(Trials)
        trials.limit_s = 1000
        trials.process = types.SimpleNamespace(kill=lambda: None)
        with (
            mock.patch.object(threading, "Timer", Interrupted),
            self.assertRaises(KeyboardInterrupt),
        ):
            trials.answer(1000)
        begun[0].join(10)
        self.assertFalse(begun[0].is_alive(), "and would be waited for at the end of the process")

    def test_a_signal_to_all_processes_is_not_a_failure_of_the_first(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        folder = scratch.name
        with open(os.path.join(folder, "bench-trials"), "w", encoding="utf-8") as file:
            file.write(
                "#!/bin/sh\necho '{}'\nread question\n(sleep 0.2; kill -TERM $PPID) >/dev/null 2>&1"
                " &\nkill -TERM $$\n"
            )
        os.chmod(file.name, 0o755)
        before = signal.signal(signal.SIGTERM, stop.raise_once)
        try:
            with self.assertRaises(stop.Terminated):
                team = types.SimpleNamespace(ranks=2, bind="core")
                with Trials(types.SimpleNamespace(tools=folder), team, []) as trials:
                    trials.compare("barrier", 0, Plan(1, 1, 1, 0, True), [0])
        finally:
            signal.signal(signal.SIGTERM, before)
