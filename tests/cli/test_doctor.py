# SPDX-License-Identifier: BSD-3-Clause
"""
Tests `huddle doctor`, on this machine and on described machines.
"""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest
import unittest.mock

from paths import BUILD

from cli.doctor import groups, installed, machine
from cli.doctor.finding import FAIL, OK, WARN

HUDDLE = os.path.join(BUILD, "bin", "huddle")


def doctor(*words, before="", **more):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("HUDDLE")}
    return subprocess.run(
        ["sh", "-c", f'{before} exec "$0" doctor "$@"', HUDDLE, *words],
        capture_output=True,
        text=True,
        env={**kept, **more},
        timeout=120,
        check=False,
    )


class Here(unittest.TestCase):
    def test_text_and_json_agree(self):
        text, data = doctor("--ranks", "2"), doctor("--ranks", "2", "--json")
        found = json.loads(data.stdout)
        self.assertEqual(0 if found["works"] else 1, data.returncode)
        self.assertEqual(data.returncode, text.returncode)
        lines = text.stdout.splitlines()
        self.assertEqual(len(found["findings"]), len(lines) - 2)

        def steady(words):
            """Removes free amounts, which may change between the two runs."""
            return re.sub(r"[\d.]+ \w+ (?=free|left)", "", words)

        for one, line in zip(found["findings"], lines):
            self.assertIn(one["name"], line)
            self.assertIn(steady(one["text"]), steady(line))

    def test_findings_name_the_remedy(self):
        for more, before, expected in (
            ({"HUDDLE_MEMORY": "much"}, "", "HUDDLE_MEMORY"),
            ({"HUDDLE": "off"}, "", "unset HUDDLE"),
            ({"PATH": "/nowhere:/usr/bin:/bin"}, "PATH=/nowhere;", "no launcher on PATH"),
            ({}, "ulimit -n 50;", "ulimit -n"),
            ({}, "ulimit -v 300000;", "limits: address space .*ulimit -v"),  # its own two ranks fit
        ):
            with self.subTest(expected=expected):
                answer = doctor("--ranks", "2", before=before, **more)
                self.assertEqual(1, answer.returncode, answer.stdout + answer.stderr)
                self.assertRegex(answer.stdout, rf"(?m)^FAIL  .*{expected}")

    def test_a_bad_setting_is_one_line(self):
        bad = {"HUDDLE_LEASE": "banana", "HUDDLE_WAIT": "never"}
        for more, before in ((bad, ""), ({**bad, "HUDDLE": "require"}, ""), (bad, "ulimit -n 50;")):
            with self.subTest(more=more, before=before):
                answer = doctor("--ranks", "2", before=before, **more)
                output = answer.stdout + answer.stderr
                for name, value in bad.items():
                    self.assertEqual(1, output.count(f"{name}={value}"), output)
                # The finding about its team of two has the missing descriptors.
                self.assertEqual(bool(before), "descriptors" in answer.stdout, output)
                self.assertIn("HUDDLE_LEASE=banana", answer.stdout)

    def test_an_invalid_tuning_file_is_the_only_finding(self):
        """
        Checks that the finding has the setting, its value and the accepted values, and blames
        nothing else.
        """
        with tempfile.TemporaryDirectory() as folder:
            bad = os.path.join(folder, "huddle", "tuning.rules")
            os.mkdir(os.path.dirname(bad))
            pathlib.Path(bad).write_text("\nbcast -> oak\n")
            for more, expected in (
                ({"HUDDLE_TUNING": f"{folder}/none"}, f"HUDDLE_TUNING={folder}/none: .*unset it"),
                ({"HUDDLE_TUNING": folder}, f"HUDDLE_TUNING={folder} cannot be read: .*unset it"),
                ({"HUDDLE_TUNING": bad}, f"HUDDLE_TUNING={bad}:2: .*unset it"),
                ({"XDG_CONFIG_HOME": folder}, f"{bad}:2: .*; correct or remove .*TUNING=off"),
            ):
                with self.subTest(more=more):
                    answer = doctor("--ranks", "2", **more)
                    self.assertEqual(("", 1), (answer.stderr, answer.returncode))
                    lines = answer.stdout.splitlines()
                    failed = [line for line in lines if line.startswith("FAIL")]
                    self.assertEqual(1, len(failed), answer.stdout)
                    self.assertRegex(failed[0], f"^FAIL  settings: {expected}")
                    self.assertIn("(accepted: ", failed[0])
                    self.assertRegex(answer.stdout, r"(?m)^ok    two ranks: share memory")
                    self.assertNotIn("single copy: not ", answer.stdout)

    def test_a_failure_to_share_memory_is_reported(self):
        """Checks that the finding has the library's report about the ranks."""
        answer = doctor("--ranks", "2", before="ulimit -n 50;")
        self.assertEqual("", answer.stderr)
        self.assertRegex(answer.stdout, r"(?m)^FAIL  two ranks: no shared memory; .*ulimit -n")
        self.assertRegex(answer.stdout, r"(?m)^warn  single copy: not tried")

    def test_two_ranks_are_tried_despite_bad_settings(self):
        for name, value, with_defaults in (
            ("HUDDLE_LEASE", "banana", True),
            ("HUDDLE", "off", True),
            ("HUDDLE", "require", False),
        ):
            with self.subTest(value=value):
                answer = doctor("--ranks", "2", **{name: value})
                self.assertRegex(answer.stdout, r"(?m)^ok    two ranks: share memory")
                self.assertEqual(with_defaults, "with the settings' defaults" in answer.stdout)
                self.assertEqual("", answer.stderr)

    def test_bad_arguments(self):
        answer = doctor("--ranks", "-3")
        self.assertEqual(2, answer.returncode)
        self.assertRegex(answer.stderr, r"^huddle: [^\n]*\n$")


class Described(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)

    def machine(self, ranks=4, **files):
        for path, text in files.items():
            file = self.root / path.replace("__", "/").replace("_DOT_", ".")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return machine.Machine(ranks, str(self.root))

    def test_memory_of_a_control_group(self):
        own = {"proc__self__cgroup": "0::/job\n", "sys__fs__cgroup__job__memory_DOT_current": "0\n"}
        for allowed, memory_set, state, change in (
            ("max", None, OK, ""),
            (str(64 << 30), None, OK, ""),
            (str(100 << 20), 512 << 20, WARN, "HUDDLE_MEMORY=2M"),
            (str(30 << 20), None, WARN, "HUDDLE_MEMORY=2M"),
            (str(30 << 20), 2 << 20, OK, ""),
            (str(12 << 20), None, WARN, "raise the limit"),
        ):
            here = self.machine(**own, sys__fs__cgroup__job__memory_DOT_max=allowed + "\n")
            here.memory_set = memory_set
            (one,) = machine.memory(here, None)
            self.assertEqual((state, True), (one.state, (one.change or "").endswith(change)), one)

    def test_limits_of_parent_groups_count(self):
        """Checks groups as in Slurm, which limits the job but not the group of its step."""
        job = "sys__fs__cgroup__slurm__job__"
        files = {
            "proc__self__cgroup": "0::/slurm/job/step/user\n",
            "sys__fs__cgroup__slurm__job__step__user__memory_DOT_max": "max\n",
            job + "memory_DOT_max": f"{80 << 20}\n",
            job + "memory_DOT_current": f"{40 << 20}\n",
            job + "memory_DOT_stat": f"anon 7\ninactive_file {30 << 20}\n",
            job + "cpu_DOT_max": "50000 100000\n",
        }
        here = self.machine(**files)
        self.assertEqual((80 << 20, 70 << 20), groups.memory(here))
        self.assertEqual(0.5, groups.processors_allowed(here))
        self.assertTrue(any("0.5 of" in one.text for one in machine.processors(here, None)))

    def test_control_groups_of_version_1(self):
        files = {
            "proc__self__cgroup": "4:memory:/docker/x\n3:cpu,cpuacct:/docker/x\n"
            "1:name=systemd:/\n0::/\n",
            # A container sees its own group as the top group.
            "sys__fs__cgroup__memory__memory_DOT_limit_in_bytes": f"{16 << 20}\n",
            "sys__fs__cgroup__memory__memory_DOT_usage_in_bytes": f"{6 << 20}\n",
            "sys__fs__cgroup__cpu__cpu_DOT_cfs_quota_us": "150000\n",
            "sys__fs__cgroup__cpu__cpu_DOT_cfs_period_us": "100000\n",
        }
        here = self.machine(**files)
        self.assertEqual((16 << 20, 10 << 20), groups.memory(here))
        self.assertEqual(1.5, groups.processors_allowed(here))
        files["sys__fs__cgroup__memory__memory_DOT_limit_in_bytes"] = "9223372036854771712\n"
        files["sys__fs__cgroup__cpu__cpu_DOT_cfs_quota_us"] = "-1\n"
        here = self.machine(**files)
        self.assertIsNone(groups.memory(here))
        self.assertIsNone(groups.processors_allowed(here))

    def test_a_batch_system_as_the_only_launcher(self):
        class Layout:
            def front_ends(self):
                return {"mpich": "x"} if self.built else {}

        layout = Layout()
        srun = self.root / "srun"
        srun.touch(mode=0o755)
        with unittest.mock.patch.dict(os.environ, {"PATH": str(self.root)}):
            for built, state in ((True, WARN), (False, FAIL)):
                layout.built = built
                self.assertEqual([state], [one.state for one in installed.mpi(None, layout)])
            srun.unlink()
            layout.built = True
            self.assertEqual([FAIL], [one.state for one in installed.mpi(None, layout)])

    def test_single_copy(self):
        class Layout:
            def hear(self, *_words, **_settings):
                return {"members": [{"team": {"state": "ready", "direct": False}}]}, ""

        here = self.machine(proc__sys__kernel__yama__ptrace_scope="2\n")
        (one,) = machine.single_copy(here, Layout())
        self.assertEqual((WARN, "sysctl kernel.yama.ptrace_scope=1"), (one.state, one.change))
        here = self.machine(proc__sys__kernel__yama__ptrace_scope="0\n")
        self.assertIn("SYS_PTRACE", machine.single_copy(here, Layout())[0].change)

    def test_the_reason_of_a_refused_team_is_reported(self):
        class Layout:
            def hear(self, *_words, **_settings):
                team = {"state": "refused", "reason": "no shared memory"}
                return {"members": [{"team": team}]}, "huddle: rank 0 has none\n"

        (one,) = machine.team(self.machine(), Layout())
        self.assertEqual((FAIL, "no shared memory; rank 0 has none"), (one.state, one.text))

    def test_shm_and_container(self):
        self.assertEqual(WARN, machine.shm_folder(self.machine(), None)[0].state)
        self.assertEqual([], machine.container(self.machine(), None))
        self.assertIn(
            "Podman", machine.container(self.machine(run___DOT_containerenv=""), None)[0].text
        )


class Nodes(unittest.TestCase):
    def found(self, value, **env):
        names = ("SLURM_JOB_NUM_NODES", "PBS_NODEFILE", "LSB_DJOB_HOSTFILE", "PE_HOSTFILE")
        kept = {k: v for k, v in os.environ.items() if k not in names}
        layout = unittest.mock.Mock()
        rows = [{"name": "HUDDLE_WAIT", "value": "poll"}, {"name": "HUDDLE_NODES", "value": value}]
        layout.ask.return_value = {"settings": rows}
        with unittest.mock.patch.dict(os.environ, {**kept, **env}, clear=True):
            return installed.nodes(None, layout)

    def test_a_job_of_several_nodes_needs_a_setting(self):
        for value, state, text in (
            ("off", WARN, "has 3; .* fall back to the MPI"),
            ("auto", OK, "handled under Open MPI and Hydra; .* fall back .* under srun with MPICH"),
            ("on", OK, "HUDDLE_NODES=on$"),
        ):
            (one,) = self.found(value, SLURM_JOB_NUM_NODES="3")
            self.assertEqual(state, one.state)
            self.assertRegex(one.text, text)
            self.assertEqual("unset HUDDLE_NODES" if state == WARN else None, one.change)

    def test_files_of_hosts_are_counted(self):
        with tempfile.NamedTemporaryFile("w", encoding="utf-8") as file:
            file.write("a 2\nb 2\n\na 2\n")
            file.flush()
            self.assertRegex(self.found("off", PBS_NODEFILE=file.name)[0].text, "has 2;")

    def test_one_node_gives_no_finding(self):
        for env in ({}, {"SLURM_JOB_NUM_NODES": "1"}, {"PE_HOSTFILE": "/no/such"}):
            self.assertEqual([], self.found("off", **env))
