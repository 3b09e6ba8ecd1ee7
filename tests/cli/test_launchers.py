# SPDX-License-Identifier: BSD-3-Clause
"""Tests what `huddle run` hands to each launcher, for ranks on other nodes."""

import os
import shutil
import subprocess
import tempfile
import unittest

from paths import BUILD

HUDDLE = os.path.join(BUILD, "bin", "huddle")
LIST = "OMPI_MCA_mca_base_env_list"
INTERNAL = LIST + "_internal"
BATCH = ("SLURM", "PBS", "LSB", "PMI", "PALS", "FLUX", "OMPI", "HYDRA", "HUDDLE")
LIBRARY = "libm.so.6"
PRINT = '#!/bin/sh\nexec env -0\n'


class Launchers(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.home = os.path.join(self.folder, "home")
        os.makedirs(os.path.join(self.home, ".openmpi"))
        for mpi, program, names in (
            ("ompi4", "orterun", ("mpirun", "mpiexec")),
            ("ompi5", "prterun", ()),
            ("hydra", "mpiexec.hydra", ("mpiexec",)),
            ("slurm", "srun", ()),
            ("unknown", "mpiexec", ()),
        ):
            self.program(mpi, program)
            for name in names:
                os.symlink(program, os.path.join(self.folder, mpi, name))
        self.program("ompi5", "mpirun")  # a file next to prterun
        self.program("hydra", "mpirun")  # a script, like that of Intel MPI

    def program(self, mpi, name):
        path = os.path.join(self.folder, mpi, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(PRINT)
        os.chmod(path, 0o755)

    def answer(self, mpi, words, options=(), **more):
        clean = {k: v for k, v in os.environ.items() if not k.startswith(BATCH)}
        path = os.pathsep.join([os.path.join(self.folder, mpi), os.environ["PATH"]])
        env = {**clean, "PATH": path, "HOME": self.home, **more}
        env.pop("LD_PRELOAD", None)
        return subprocess.run(
            [HUDDLE, "run", *options, "--", *words],
            capture_output=True,
            text=True,
            env={**env, **more},
            timeout=60,
            check=True,
        )

    def seen(self, mpi, *words, line="", **more):
        """Returns the environment of the launcher.  `line` is part of the expected line."""
        answer = self.answer(mpi, words, **more)
        self.assertEqual(bool(line), bool(answer.stderr), answer.stderr)
        self.assertIn(line, answer.stderr)
        self.assertLessEqual(answer.stderr.count("\n"), 1)
        return dict(pair.split("=", 1) for pair in answer.stdout.split("\0") if pair)

    def test_libraries_of_the_user_stay_preloaded(self):
        for mpi, name in (("ompi4", INTERNAL), ("ompi5", LIST)):
            seen = self.seen(mpi, "mpirun", "./app", LD_PRELOAD=LIBRARY)
            self.assertTrue(seen["LD_PRELOAD"].endswith(":" + LIBRARY), seen["LD_PRELOAD"])
            self.assertIn(f"LD_PRELOAD={seen['LD_PRELOAD']}", seen[name].split(";"))

    def test_openmpi_4_gets_a_list_that_allows_x(self):
        for name in ("mpirun", "mpiexec", "orterun", os.path.join(self.folder, "ompi4", "mpirun")):
            seen = self.seen("ompi4", name, "-H", "a,b", "-x", "A", "./app", HUDDLE_NODES="on")
            items = seen[INTERNAL].split(";")
            self.assertIn(f"LD_PRELOAD={seen['LD_PRELOAD']}", items)
            self.assertIn("HUDDLE_JOB", items)
            self.assertIn("HUDDLE_NODES=on", items)
            self.assertNotIn(LIST, seen)

    def test_openmpi_5_gets_the_list(self):
        for name in ("mpirun", "prterun"):
            seen = self.seen("ompi5", name, "-H", "a,b", "./app", options=("--record", self.folder))
            self.assertIn(f"HUDDLE_RECORD={self.folder}", seen[LIST].split(";"))
            self.assertIn("HUDDLE_JOB", seen[LIST].split(";"))
            self.assertNotIn(INTERNAL, seen)

    def test_no_list_has_the_secret(self):
        for mpi, name in (("ompi4", INTERNAL), ("ompi5", LIST)):
            seen = self.seen(mpi, "mpirun", "./app")
            self.assertNotIn(seen["HUDDLE_JOB"], seen[name])
            with_equals = "0123456789abcdef="  # text that a list of names would misread
            seen = self.seen(mpi, "mpirun", "./app", options=("--set", f"HUDDLE_JOB={with_equals}"))
            self.assertNotIn("HUDDLE_JOB", seen[name])

    def test_lists_of_the_user_are_kept(self):
        seen = self.seen("ompi4", "mpirun", "./app", **{LIST: "A=1;HUDDLE_LOG=info"})
        self.assertRegex(seen[LIST], r"^A=1;HUDDLE_LOG=info;.*LD_PRELOAD=")
        self.assertNotIn(INTERNAL, seen)
        seen = self.seen("ompi4", "mpirun", "./app", **{LIST: "A", LIST + "_delimiter": "+"})
        self.assertRegex(seen[LIST], r"^A\+LD_PRELOAD=[^;]*\+HUDDLE_JOB")
        seen = self.seen("ompi5", "mpirun", "./app", HUDDLE_LOG="info", **{LIST: "HUDDLE_LOG"})
        self.assertEqual(1, seen[LIST].count("HUDDLE_LOG"))
        seen = self.seen(
            "slurm", "srun", "./app", HUDDLE_LOG="info", SLURM_EXPORT_ENV="A,HUDDLE_LOG"
        )
        names = seen["SLURM_EXPORT_ENV"].split(",")
        self.assertEqual(["A", "HUDDLE_LOG"], names[:2])
        self.assertLessEqual({"LD_PRELOAD", "HUDDLE_JOB"}, set(names))

    def test_values_with_a_separator_are_passed_by_name(self):
        seen = self.seen("ompi5", "mpirun", "./app", HUDDLE_TUNING="/a;b", HUDDLE_WISDOM="/a;b=c")
        self.assertIn("HUDDLE_TUNING", seen[LIST].split(";"))
        self.assertNotIn("HUDDLE_WISDOM", seen[LIST])

    def test_openmpi_4_keeps_options_that_exclude_the_list(self):
        line = "ranks on other nodes run without huddle because of "
        for words, why in ((("--tune", "file"), "--tune"), (("--mca", LIST[9:], "A"), LIST[9:])):
            seen = self.seen("ompi4", "mpirun", "-H", "a,b", *words, "./app", line=line + why)
            self.assertFalse({LIST, INTERNAL} & set(seen))
            self.seen("ompi4", "mpirun", *words, "./app")  # no line, as there is one node
            self.seen("ompi4", "mpirun", "-H", "a,b", *words, "env", "LD_PRELOAD=x", "./app")
        with open(os.path.join(self.home, ".openmpi", "mca-params.conf"), "w") as file:
            file.write(f"# a comment\n {LIST[9:]} = A\n")
        seen = self.seen("ompi4", "mpirun", "-H", "a,b", "./app", line=line + self.home)
        self.assertFalse({LIST, INTERNAL} & set(seen))

    def test_options_of_the_program_are_ignored(self):
        app = ("sh", "-c", "env -0")
        for mpi, words in (
            ("ompi4", ("mpirun", *app, "--tune", "-H", "a,b")),
            ("ompi4", ("mpirun", *app, ":", "-H", "a,b", *app, "--tune")),
            ("hydra", ("mpiexec", *app, "-genvnone")),
            ("slurm", ("srun", *app, "--export=NONE")),
            ("unknown", ("mpiexec", *app, "--host", "a,b")),
        ):
            with self.subTest(words=words):
                self.assertEqual(mpi == "ompi4", INTERNAL in self.seen(mpi, *words))
        line = "ranks on other nodes run without huddle because of --tune"
        words = ("-H", "a,b", *app, ":", "--tune", "file", *app)
        self.assertNotIn(INTERNAL, self.seen("ompi4", "mpirun", *words, line=line))

    def test_values_of_options_are_not_taken_for_the_program(self):
        line = "ranks on other nodes run without huddle because of --tune"
        for value in (
            ("--map-by", "env"),
            ("--mca", "pml", "test"),
            ("-x", "sh"),
            ("-v", "-x", "sh"),
        ):
            with self.subTest(value=value):
                words = (*value, "-H", "a,b", "--tune", "file", "./app")
                self.assertNotIn(INTERNAL, self.seen("ompi4", "mpirun", *words, line=line))
        line = "ranks run without huddle because of --export"
        self.seen("slurm", "srun", "-p", "test", "--export=NONE", "./app", line=line)
        self.seen("hydra", "mpiexec", "-n", "2", "sh", "-c", "env -0", "-genvnone")
        self.seen("ompi4", "mpirun", "--oversubscribe", "sh", "-c", "env -0", "--tune", "-H", "a,b")

    def test_hydra_and_srun_pass_the_environment(self):
        for mpi, name in (("hydra", "mpiexec"), ("hydra", "mpirun"), ("slurm", "srun")):
            seen = self.seen(mpi, name, "-hosts", "a,b", "./app", SLURM_JOB_NUM_NODES="2")
            self.assertFalse({LIST, INTERNAL, "SLURM_EXPORT_ENV"} & set(seen))

    def test_launcher_without_environment_is_reported(self):
        line = "ranks run without huddle because of "
        for mpi, words, more, why in (
            ("hydra", ("mpiexec", "-genvnone"), {}, "-genvnone"),
            ("hydra", ("mpiexec", "-genvlist", "A"), {}, "-genvlist"),
            ("hydra", ("mpiexec", "-genvlist", "A,LD_PRELOAD"), {}, None),
            ("hydra", ("mpiexec",), {"HYDRA_ENV": "none"}, "HYDRA_ENV"),
            ("slurm", ("srun", "--export=NONE"), {}, "--export"),
            ("slurm", ("srun", "--export", "A"), {}, "--export"),
            ("slurm", ("srun", "--export=A,ALL"), {"SLURM_EXPORT_ENV": "NONE"}, None),
            ("slurm", ("srun", "--export-file=A"), {}, None),
            ("slurm", ("srun",), {"SLURM_EXPORT_ENV": "NONE"}, "SLURM_EXPORT_ENV"),
        ):
            with self.subTest(words=words, more=more):
                self.seen(mpi, *words, "./app", line=line + why if why else "", **more)

    def test_an_unknown_launcher_is_reported_if_there_may_be_several_nodes(self):
        hosts = os.path.join(self.folder, "hosts")
        with open(hosts, "w", encoding="utf-8") as file:
            file.write("a 1\na 1\nb 1\n")
        line = " is not a launcher that huddle knows"
        for mpi, words, more, expected in (
            ("unknown", ("mpiexec", "-n", "2", "./app"), {}, ""),
            ("unknown", ("mpiexec", "--host", "a,b", "./app"), {}, "mpiexec" + line),
            ("unknown", ("env", "-0"), {"SLURM_JOB_NUM_NODES": "1"}, ""),
            ("unknown", ("env", "-0"), {"SLURM_JOB_NUM_NODES": "2"}, "env" + line),
            ("unknown", ("env", "-0"), {"PBS_NODEFILE": hosts}, "env" + line),
            ("unknown", ("sh", "-c", "env -0", "-f", "-H"), {}, ""),
            ("unknown", ("env", "-0"), {"SLURM_JOB_NUM_NODES": "2", "PMI_RANK": "0"}, ""),
        ):
            with self.subTest(words=words, more=more):
                self.seen(mpi, *words, line=expected, **more)

    def test_ranks_keep_the_secret_unless_they_start_a_job(self):
        step = {"SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "2"}
        for more, is_rank in (
            ({"PMI_ID": "1"}, True),
            ({"PALS_RANKID": "0"}, True),
            ({"FLUX_TASK_RANK": "0"}, True),
            (step, True),
            ({"SLURM_PROCID": "0"}, False),  # the shell of a job's script
            ({**step, "SLURM_STEP_NUM_TASKS": "1"}, False),  # srun --pty
        ):
            with self.subTest(more=more):
                seen = self.seen("slurm", "env", "-0", **more)
                self.assertEqual(is_rank, "HUDDLE_JOB" not in seen)
                self.assertIn("HUDDLE_JOB", self.seen("slurm", "srun", "./app", **more))

    def test_explain_prints_it(self):
        for mpi, name, words in (
            ("ompi4", "mpirun", ("(Open MPI 4) lists", INTERNAL + "=")),
            ("ompi5", "mpirun", ("(Open MPI 5) lists", LIST + "=")),
            ("hydra", "mpiexec", ("(Hydra) passes the environment",)),
            ("slurm", "srun", ("(Slurm) passes the environment",)),
            ("unknown", "mpiexec", ("mpiexec is not a launcher that huddle knows",)),
        ):
            answer = self.answer(mpi, (name, "-hostfile", "f", "./app"), options=("--explain",))
            for text in words:
                self.assertIn(text, answer.stdout)


if __name__ == "__main__":
    unittest.main()
