# SPDX-License-Identifier: BSD-3-Clause
"""Tests the command `huddle` as users call it."""

import glob
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from harness import some
from paths import BUILD

HUDDLE = os.path.join(BUILD, "bin", "huddle")
CLI = os.path.join(BUILD, "libexec", "huddle", "cli")

# The answers of launchers to --version, and the names that huddle derives.
LAUNCHERS = {
    "mpirun": ("mpirun (Open MPI) 5.0.7\n\nReport bugs to ...\n", "Open MPI 5.0.7", "openmpi-5.0"),
    "mpiexec": (
        "Intel(R) MPI Library for Linux* OS, Version 2021.19 Build 20260101\n",
        "Intel MPI 2021.19",
        "mpich",
    ),
    "mpiexec.hydra": (
        "HYDRA build details:\n    Version:                                 4.0.2\n",
        "MPICH 4.0.2",
        "mpich",
    ),
    "mpirun.mpich": ("something else entirely\n", None, None),
}


def clean_environment(**more):
    return {
        **{k: v for k, v in os.environ.items() if not k.startswith("HUDDLE") and k != "LD_PRELOAD"},
        **more,
    }


def huddle(*words, **environment):
    return subprocess.run(
        [HUDDLE, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=clean_environment(**environment),
        timeout=120,
        check=False,
    )


def seen_by_command(*options, **environment):
    """Returns the environment of a command of `huddle run`."""
    answer = huddle("run", *options, "--", "env", "-0", **environment)
    assert answer.returncode == 0, answer.stderr
    return dict(pair.split("=", 1) for pair in answer.stdout.split("\0") if pair)


class Run(unittest.TestCase):
    def test_run_sets_the_loader_and_a_new_job_name(self):
        first, second = seen_by_command(), seen_by_command()
        self.assertTrue(os.path.isfile(first["LD_PRELOAD"]))
        self.assertRegex(first["HUDDLE_JOB"], r"^[0-9a-f]{32}$")
        self.assertNotEqual(first["HUDDLE_JOB"], second["HUDDLE_JOB"])
        self.assertEqual(
            {"LD_PRELOAD", "HUDDLE_JOB"},
            {k for k in first if k.startswith("HUDDLE") or k == "LD_PRELOAD"},
        )

    def test_relative_tuning_files_are_in_the_folder_where_the_job_starts(self):
        name, here = "HUDDLE_TUNING", os.getcwd()
        for value, seen in (
            ("a/t.rules", os.path.join(here, "a/t.rules")),
            ("/a/t.rules", "/a/t.rules"),
            ("off", "off"),
            ("", ""),
            ("a" * 250, "a" * 250),  # its absolute path is too long for a setting
        ):
            with self.subTest(value=value):
                self.assertEqual(seen, seen_by_command(**{name: value})[name])
                self.assertEqual(seen, seen_by_command("--set", f"{name}={value}")[name])
                both = seen_by_command("--set", f"{name}={value}", **{name: "b.rules"})
                self.assertEqual(seen, both[name])

    def test_commands_that_do_not_exist(self):
        for word, expected in (
            ("rnu", "did you mean run?"),
            ("setings", "did you mean settings?"),
            ("sh", "did you mean huddle run -- sh"),
            ("zzz", "the commands are run, "),
        ):
            answer = huddle(word)
            self.assertEqual(2, answer.returncode)
            self.assertRegex(
                answer.stderr, rf"^huddle: {word} is not a command of huddle; [^\n]*\n$"
            )
            self.assertIn(expected, answer.stderr)

    def test_all_usage_errors_have_the_same_form(self):
        """
        Checks the form of errors by click and by huddle: the option, the value, the accepted
        values.
        """
        for words, expected in (
            ("info --bind x", "--bind x: not possible (accepted: core, none)"),
            ("info --ranks x", "--ranks x: not possible (accepted: 1 to 1024)"),
            ("info --ranks 0", "--ranks 0: not possible (accepted: 1 to 1024)"),
            (
                "bench --bytes 9:3",
                "--bytes 9:3: not a range (accepted: LOW:HIGH or LOW:HIGH:FACTOR)",
            ),
            ("bench --skew 3 --late 3", "--late: not with --skew (accepted: one of the two)"),
            ("info --ranks", "--ranks: the value is missing; see huddle info --help"),
            ("info --json=3", "--json: takes no value; see huddle info --help"),
            ("info --rank 3", "--rank is not an option of huddle info; did you mean --ranks?"),
            ("info x", "unexpected argument x; see huddle info --help"),
            ("who", "PID is missing; see huddle who --help"),
            (
                "profile sh -c true",
                "profile sh: -- is missing before the command (accepted: -- sh ...)",
            ),
        ):
            with self.subTest(words=words):
                answer = huddle(*words.split())
                self.assertEqual((2, ""), (answer.returncode, answer.stdout))
                self.assertEqual(f"huddle: {expected}\n", answer.stderr)

    def test_some_settings(self):
        rows = json.loads(huddle("settings", "memory", "--json").stdout)["settings"]
        self.assertEqual(["HUDDLE_MEMORY"], [row["name"] for row in rows])
        answer = huddle("settings", "HUDDLE_MEMROY")
        self.assertEqual(2, answer.returncode)
        self.assertIn("did you mean HUDDLE_MEMORY?", answer.stderr)
        lines = huddle("settings", "--export", HUDDLE_MEMORY="1M", HUDDLE_JOB="hidden").stdout
        self.assertIn("\nexport HUDDLE_MEMORY=1M\n", lines)
        self.assertIn("\n# export HUDDLE_LEASE=1536K\n", lines)
        self.assertNotIn("hidden", lines)
        subprocess.run(["sh", "-e"], input=lines, text=True, check=True)

    def test_info_brief_is_short(self):
        answer = huddle("info", "--brief", "--ranks", "2")
        self.assertEqual(0, answer.returncode, answer.stderr)
        self.assertLess(len(answer.stdout.splitlines()), 12)
        self.assertIn("a team of 2 processes works", answer.stdout)

    def test_run_keeps_a_given_huddle_job(self):
        mine = "0123456789abcdef"
        self.assertEqual(seen_by_command("--set", f"HUDDLE_JOB={mine}")["HUDDLE_JOB"], mine)
        answer = huddle("run", "--set", "HUDDLE_JOB=" + mine[1:], "--", "true")
        self.assertEqual((2, 1), (answer.returncode, answer.stderr.count("\n")), answer.stderr)
        self.assertIn("(accepted: random text of 16 to 255 bytes)", answer.stderr)
        rank = {"PMI_RANK": "1"}
        self.assertEqual(seen_by_command(HUDDLE_JOB="of-all", **rank)["HUDDLE_JOB"], "of-all")
        self.assertNotIn("HUDDLE_JOB", seen_by_command(**rank))

    def test_run_keeps_preloaded_libraries(self):
        self.assertRegex(
            seen_by_command(LD_PRELOAD="libm.so.6")["LD_PRELOAD"],
            r"libhuddle-loader\.so:libm\.so\.6$",
        )

    def test_settings_and_statistics(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "out.json")
            seen = seen_by_command("--set", "HUDDLE_MEMORY=1M", f"--stats={file}")
            self.assertEqual("1M", seen["HUDDLE_MEMORY"])
            self.assertRegex(seen["LD_PRELOAD"], r"^[^:]*libhuddle-loader\.so$")
            self.assertFalse(os.path.exists(seen["HUDDLE_RECORD"]))
            with open(file, encoding="utf-8") as written:
                self.assertEqual(0, json.load(written)["ranks_seen"])
            in_a_rank = seen_by_command(f"--stats={file}", PMI_RANK="0")
            self.assertEqual("json:" + file, in_a_rank["HUDDLE_STATS"])
            kept = seen_by_command("--record", folder)
            self.assertEqual(folder, kept["HUDDLE_RECORD"])
            self.assertEqual([file], glob.glob(os.path.join(folder, "*")))

    def test_unwritable_statistics_file_of_the_option_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            made = os.path.join(folder, "made")
            for option in (
                "--stats=/no/such/file",
                f"--stats={folder}",
                "--record=/no/such",
                "--record=/proc",
                f"--record={folder}{'/.' * 200}",
            ):
                answer = huddle("run", option, "--", "touch", made)
                self.assertEqual(2, answer.returncode)
                self.assertRegex(answer.stderr, r"^huddle: [^\n]*\n$")
                self.assertFalse(os.path.exists(made))

    def test_unwritable_statistics_file_of_the_environment_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            file, bad = os.path.join(folder, "f"), "json:/no/such/file"
            for options, value, status in (
                ((), bad, 2),
                (("--set", f"HUDDLE_STATS={bad}"), "off", 2),
                (("--set", "HUDDLE_STATS=off"), bad, 0),
                ((), f"json:{file}", 0),
            ):
                answer = huddle("run", *options, "--", "echo", "ran", HUDDLE_STATS=value)
                self.assertEqual(status, answer.returncode)
                self.assertEqual("" if status else "ran\n", answer.stdout)
                output = r"^huddle: HUDDLE_STATS: cannot write /no/such/file: [^\n]*\n$"
                self.assertRegex(answer.stderr, output if status else r"^$")
            self.assertFalse(os.path.exists(file))

    def test_all_bad_settings_are_reported(self):
        words = ("--set", "HUDDLE_A=1", "--set", "HUDDLE_MEMORY", "--set", "HUDDLE_LOG=info")
        answer = huddle("run", *words, "--set", "HUDDLE_BCST=1", "--", "true")
        self.assertEqual(2, answer.returncode)
        lines = answer.stderr.splitlines()
        for line, name in zip(lines, ("A=1: not", "MEMORY: the value", "BCST=1: not")):
            self.assertTrue(line.startswith(f"huddle: --set HUDDLE_{name}"), line)
        self.assertEqual(3, len(lines))
        answer = huddle("bench", "--set", "HUDDLE_A=1", "--set", "HUDDLE_B=2")
        self.assertRegex(answer.stderr, r"^(huddle: --set HUDDLE_[AB]=\d: not [^\n]*\n){2}$")
        answer = huddle("settings", HUDDLE_MEMORY="lots", HUDDLE_WAIT="never", HUDDLE_X="1")
        lines = answer.stdout.splitlines()[:3]
        for name in ("HUDDLE_MEMORY=lots ", "HUDDLE_WAIT=never ", "HUDDLE_X=1 "):
            self.assertEqual(1, sum(line.startswith(name) for line in lines), answer.stdout)

    def test_run_replaces_itself_with_the_command(self):
        answer = huddle("run", "--", "sh", "-c", "echo \"$@\"; exit 7", "sh", "--", "--explain")
        self.assertEqual((7, "-- --explain\n"), (answer.returncode, answer.stdout))

    def test_bad_options_are_reported_in_one_line(self):
        for words, status, expected in (
            (("run",), 2, "nothing to run"),
            (("run", "--"), 2, "nothing to run"),
            (("run", "--", "no-such-command"), 127, "no-such-command"),
            (("run", "--set", "HUDDLE_MEMRY=1", "--", "true"), 2, "did you mean HUDDLE_MEMORY?"),
            (("run", "--set", "HUDDLE_LEASE=1", "--", "true"), 2, "out of range (accepted: auto"),
            (("run", "--set", "HUDDLE_MEMORY", "--", "true"), 2, "HUDDLE_MEMORY=VALUE"),
            (
                ("run", "--set", "HUDDLE_MEMORY=x", "--", "true"),
                2,
                "not valid (accepted: auto, or a",
            ),
            (("run", "--set", "--", "true"), 2, "--set"),
            (("run", "--explain=1", "--", "true"), 2, "--explain"),
            (("run", "--stats=", "--", "true"), 2, "FILE"),
            (("run", "--no-such", "--", "true"), 2, "--no-such"),
            (("run", "--", "/"), 126, "cannot run /"),
            (("run", "--", "/no/such"), 127, "/no/such"),
        ):
            answer = huddle(*words)
            with self.subTest(words=words):
                self.assertEqual(status, answer.returncode)
                self.assertRegex(answer.stderr, r"^huddle: [^\n]*\n$")
                self.assertIn(expected, answer.stderr)

    def test_run_starts_no_python(self):
        """Checks an installation without the CLI, which every other command needs."""
        with tempfile.TemporaryDirectory() as prefix:
            os.mkdir(os.path.join(prefix, "bin"))
            alone = shutil.copy(HUDDLE, os.path.join(prefix, "bin"))
            os.symlink(os.path.join(BUILD, "lib"), os.path.join(prefix, "lib"))

            def answer_to(*words):
                run = [alone, *words]
                clean = clean_environment()
                return subprocess.run(run, capture_output=True, text=True, env=clean, check=False)

            for words in ((), ("--stats", "--set", "HUDDLE_MEMORY=1M")):
                answer = answer_to("run", *words, "--", "/bin/sh", "-c", "echo here")
                self.assertEqual((0, "here\n"), (answer.returncode, answer.stdout), answer.stderr)
            answer = answer_to("settings")
            self.assertEqual(1, answer.returncode)
            self.assertRegex(answer.stderr, r"^huddle: cannot run [^\n]*cli: [^\n]*\n$")
            cli = os.path.join(prefix, "libexec", "huddle", "cli")
            os.makedirs(os.path.dirname(cli))
            with open(cli, "w", encoding="utf-8") as file:
                file.write("#!/there/is/no/python3\n")
            os.chmod(cli, 0o755)
            self.assertRegex(
                answer_to("settings").stderr,
                r"^huddle: cannot run [^\n]*cli: its interpreter /there/is/no/python3: [^\n]*\n$",
            )
            # then the library prints the statistics; such as without click
            for head in ("#!/there/is/no/python3\n", "#!/bin/false\n"):
                with open(cli, "w", encoding="utf-8") as file:
                    file.write(head)
                answer = answer_to("run", "--stats", "/bin/sh", "-c", "echo $HUDDLE_STATS")
                self.assertEqual((0, "1\n", ""), (answer.returncode, answer.stdout, answer.stderr))

    def test_options_can_be_written_with_or_without_equals(self):
        seen = seen_by_command("--set=HUDDLE_MEMORY=1M", "--set", "HUDDLE_MEMORY=2")
        self.assertEqual("2", seen["HUDDLE_MEMORY"])
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "f")
            seen = seen_by_command("--stats", file, PMI_RANK="0")
        self.assertEqual("json:" + file, seen["HUDDLE_STATS"])

    def test_the_command_needs_no_dashes(self):
        for words in (("true",), ("--stats", "true"), ("--set", "HUDDLE_LOG=info", "true")):
            answer = huddle("run", *words)
            self.assertEqual(0, answer.returncode, answer.stderr)

    def test_help_names_statistics(self):
        self.assertIn("--stats", huddle("run", "--help").stdout)

    def test_explain_runs_nothing(self):
        with tempfile.TemporaryDirectory() as scratch:
            file = os.path.join(scratch, "made")
            answer = huddle("run", "--explain", "--set", "HUDDLE_LOG=info", "--", "touch", file)
            self.assertFalse(os.path.exists(file))
        for words in ("HUDDLE_LOG=info", "LD_PRELOAD=", "HUDDLE_JOB=", "touch"):
            self.assertIn(words, answer.stdout)


class Launcher(unittest.TestCase):
    def test_only_a_cli_in_the_build_tree_finds_its_packages(self):
        """
        Checks the environment made by ./quickstart, with a fake CLI whose status shows whether a
        package is found there.
        """
        version = "{}.{}".format(*sys.version_info)
        with tempfile.TemporaryDirectory() as tree:
            files = {
                f"venv/lib/python{version}/site-packages/only_here.py": "",
                "libexec/huddle/python/cli/__init__.py": "",
                "libexec/huddle/python/cli/common/__init__.py": "",
                "libexec/huddle/python/cli/common/layout.py": "def Layout(*_, **__): pass\n",
                "libexec/huddle/python/cli/main.py": (
                    "import importlib.util\ndef main(*_): return 5 if"
                    " importlib.util.find_spec('only_here') else 6\n"
                ),
            }
            for name, text in files.items():
                os.makedirs(os.path.dirname(os.path.join(tree, name)), exist_ok=True)
                with open(os.path.join(tree, name), "w", encoding="utf-8") as file:
                    file.write(text)
            launcher = shutil.copy(CLI, os.path.join(tree, "libexec", "huddle"))
            self.assertEqual(
                6,
                subprocess.run([sys.executable, "-B", launcher], check=False).returncode,
                "an installation",
            )
            with open(os.path.join(tree, "CMakeCache.txt"), "w", encoding="utf-8"):
                self.assertEqual(
                    5,
                    subprocess.run([sys.executable, "-B", launcher], check=False).returncode,
                    "a build tree",
                )

    def test_an_old_python_is_an_error(self):
        run = "import runpy, sys; sys.version_info = (3, 8, 1); runpy.run_path(sys.argv[1])"
        answer = subprocess.run(
            [sys.executable, "-B", "-c", run, CLI], capture_output=True, text=True, check=False
        )
        self.assertEqual(1, answer.returncode)
        self.assertRegex(answer.stderr, r"^huddle: Python 3.8: [^\n]*accepted: 3.9 [^\n]*\n$")


class Info(unittest.TestCase):
    def test_a_team_of_processes(self):
        facts = json.loads(huddle("info", "--json", "--ranks", "5").stdout)
        members = facts["team"]["members"]
        self.assertEqual(list(range(5)), [m["rank"] for m in members])
        self.assertEqual(1, len({(m["calls"], m["handled"]) for m in members}), "all decide alike")
        self.assertGreater(members[0]["handled"], 0)
        lowest = members[0]["team"]["levels"][0]["groups"]
        self.assertEqual(list(range(5)), sorted(rank for group in lowest for rank in group))
        self.assertTrue(facts["machine"]["numa_nodes"])
        memory = sum(node["bytes"] for node in facts["machine"]["numa_nodes"])
        for member in facts["team"]["members"]:
            lease = member["team"]["lease"]
            self.assertLessEqual(
                lease["arena_bytes"], min(10 << 20, memory / 100 / facts["machine"]["cores"])
            )
            self.assertLessEqual(lease["bytes"], lease["arena_bytes"])

    def test_text(self):
        answer = huddle("info", "--ranks", "3", "--bind", "none")
        self.assertEqual(0, answer.returncode, answer.stderr)
        for words in (
            "Machine:",
            "A team of 3 processes, unbound",
            "pages on nodes",
            "pages (HUDDLE_HUGE_PAGES): all ranks: ordinary",
            "single copy between ranks (HUDDLE_CMA, HUDDLE_XPMEM): ",
            "of each rank (HUDDLE_MEMORY)",
            "MPIs on PATH",
            "HUDDLE_MEMORY",
        ):
            self.assertIn(words, answer.stdout)

    def test_single_copy(self):
        """
        Checks that mappings are used only if all ranks have them.  The fake of libxpmem maps memory
        by files.
        """
        fake = os.path.join(BUILD, "test", "fake")
        for expected, more in (
            ("no", {"HUDDLE_CMA": "off"}),
            ("no", {"HUDDLE_CMA": "off", "HUDDLE_XPMEM": "keep", "FAKE_XPMEM_FAILS": "make"}),
            ("mapped by XPMEM", {"HUDDLE_CMA": "off", "HUDDLE_XPMEM": "copy"}),
            ("mapped by XPMEM", {"HUDDLE_XPMEM": "keep"}),
        ):
            if expected != "no" and not os.path.exists(fake):
                continue
            with self.subTest(expected, **more):
                if expected != "no":
                    more["FAKE_XPMEM_COPIES"] = "1"
                if "HUDDLE_XPMEM" in more:
                    more["HUDDLE_ALLTOALL"] = "cma_read"
                answer = huddle("info", "--json", "--ranks", "2", LD_LIBRARY_PATH=fake, **more)
                teams = [m["team"] for m in json.loads(answer.stdout)["team"]["members"]]
                self.assertEqual([expected, expected], [team["single_copy"] for team in teams])

    def test_huge_pages(self):
        """
        Checks that a system without huge pages has ordinary pages, and both the kind of each rank's
        pages and the system's kind are shown.
        """
        answer = huddle(
            "info", "--json", "--ranks", "2", HUDDLE_HUGE_PAGES="on", HUDDLE_MEMORY="4M"
        )
        facts = json.loads(answer.stdout)
        pages = [member["team"]["pages"] for member in facts["team"]["members"]]
        self.assertEqual(2, len(pages))
        for one in pages:
            huge = {"ordinary": 0, "huge, from the pool": 4 << 20}.get(one["kind"])
            if huge is None:
                self.assertEqual("huge, transparent", one["kind"])
                self.assertGreaterEqual(one["huge_bytes"], 2 << 20)
            else:
                self.assertEqual(huge, one["huge_bytes"])
        lines = 1 if "ordinary" in [one["kind"] for one in pages] else 0
        self.assertEqual(lines, answer.stderr.count("HUDDLE_HUGE_PAGES=on"))
        self.assertLessEqual(facts["huge_pages"]["pool_free"], facts["huge_pages"]["pool_total"])

    def test_a_bad_setting_is_shown(self):
        answer = huddle("info", HUDDLE_MEMORY="lots")
        self.assertEqual(0, answer.returncode)
        self.assertIn("handles no calls", answer.stdout)
        self.assertIn("HUDDLE_MEMORY  ", answer.stdout)
        self.assertIn("lots (not accepted)", answer.stdout)
        both = answer.stdout + answer.stderr
        self.assertEqual(1, both.count("HUDDLE_MEMORY=lots is not valid (accepted: "), both)
        answer = huddle("settings", "memory", HUDDLE_MEMORY="lots")
        self.assertRegex(
            answer.stdout, r"(?m)^  HUDDLE_MEMORY  lots \(not accepted\)  environment "
        )
        both = answer.stdout + answer.stderr
        self.assertEqual(1, both.count("HUDDLE_MEMORY=lots is not valid (accepted: "), both)

    def test_bad_ranks(self):
        self.assertNotEqual(0, huddle("info", "--ranks", "0").returncode)

    def test_mpis_on_path_are_listed(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, (says, _, _) in LAUNCHERS.items():
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(f"#!/bin/sh\ncat <<'EOF'\n{says}EOF\n")
                os.chmod(os.path.join(folder, name), 0o755)
            facts = json.loads(
                huddle("info", "--json", PATH=folder + ":" + os.environ["PATH"]).stdout
            )
        found = {
            m["launcher"]: (m["mpi"], m["front_end"])
            for m in facts["mpis"]
            if m["command"].startswith(folder)
        }
        self.assertEqual(
            {name: tuple(wanted) for name, (_, *wanted) in LAUNCHERS.items() if wanted[0]}, found
        )


class Settings(unittest.TestCase):
    def test_odd_values_are_one_line_in_the_list_of_settings(self):
        whole = {r["name"] for r in json.loads(huddle("settings", "--json").stdout)["settings"]}
        names = (
            "HUDDLE_TUNING",
            "HUDDLE_JOB",
            "HUDDLE_MEMORY",
            "HUDDLE_LAB_LEVELS_OFF",
            "HUDDLE_NO_SUCH",
        )
        values = (b"\xff\xfe", b"a\nb", b"\x1b[31m", b"9" * 400, b" 1")
        for name, value in some(itertools.product(names, values)):
            with self.subTest(name=name, value=value):
                answer = subprocess.run(
                    [HUDDLE, "settings", "--json"],
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    timeout=120,
                    check=False,
                    env={
                        **{k.encode(): v.encode() for k, v in clean_environment().items()},
                        name.encode(): value,
                    },
                )
                self.assertNotIn(b"Traceback", answer.stderr)
                output = json.loads(answer.stdout)
                listed = {r["name"] for r in output["settings"]}
                self.assertEqual(whole, listed - {name} | (whole & {name}))
                self.assertIn(name, {*listed, "HUDDLE_NO_SUCH"})
                self.assertTrue(output["error"] or value == b" 1", output["error"])
                self.assertFalse(any(ord(c) < 32 for c in output["error"] or ""), output["error"])

    def test_settings_have_a_value_and_an_origin(self):
        rows = {
            r["name"]: r
            for r in json.loads(huddle("settings", "--json", HUDDLE_MEMORY="2M").stdout)["settings"]
        }
        self.assertEqual(
            ("2M", "environment"), (rows["HUDDLE_MEMORY"]["value"], rows["HUDDLE_MEMORY"]["origin"])
        )
        self.assertEqual("default", rows["HUDDLE_BARRIER"]["origin"])
