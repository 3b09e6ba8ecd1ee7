# SPDX-License-Identifier: BSD-3-Clause
"""
Tests `huddle run --stats`, `profile` and `compare` on a program with known collectives, under each
MPI of the system.
"""

import glob
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from paths import BUILD, SOURCE

from cli.common import recorded, records

HUDDLE = os.path.join(BUILD, "bin", "huddle")
MPIS = [
    (compiler, launcher)
    for compiler, launcher in (
        ("mpicc.openmpi", ("mpirun.openmpi", "--oversubscribe", "-np")),
        ("mpicc.mpich", ("mpiexec.mpich", "-n")),
    )
    if shutil.which(compiler) and shutil.which(launcher[0])
]
AS_ROOT = {
    f"{base}_ALLOW_RUN_AS_ROOT{end}": "1" for base in ("OMPI", "PRTE") for end in ("", "_CONFIRM")
}
RANKS, CALLS, LATE_S = 3, 20, 0.02


def environment(**more):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("HUDDLE") and k != "LD_PRELOAD"}
    return {**kept, **AS_ROOT, **more}


def huddle(*words, **more):
    return subprocess.run(
        [HUDDLE, *words],
        capture_output=True,
        text=True,
        env=environment(**more),
        timeout=120,
        check=False,
    )


class Recorded(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.file = os.path.join(self.folder, "stats.json")

    def build(self, compiler, name="recorded"):
        program = os.path.join(self.folder, compiler)
        source = os.path.join(SOURCE, "tests", "mpi", f"{name}.c")
        subprocess.run([compiler, "-O1", "-o", program, source], check=True)
        return program

    def each(self, name="recorded"):
        """Yields the command of each MPI, without the program's arguments."""
        self.assertTrue(MPIS, "no MPI here")
        for compiler, launcher in MPIS:
            with self.subTest(mpi=compiler):
                yield [*launcher, str(RANKS), self.build(compiler, name)]

    def stats(self):
        with open(self.file, encoding="utf-8") as file:
            return json.load(file)

    def leftovers(self):
        return [name for name in os.listdir(self.folder) if name.startswith("huddle-")]


class Stats(Recorded):
    def test_status_126_and_127_of_the_command_are_passed_on(self):
        command = [*MPIS[0][1], str(RANKS), self.build(MPIS[0][0]), "end"]
        for status in (126, 127):
            words = ("sh", "-c", f'"$@"; exit {status}', "sh", *command)
            answer = huddle("run", f"--stats={self.file}", "--", *words)
            self.assertEqual(status, answer.returncode)
            self.assertEqual(RANKS, self.stats()["finalized"])
            os.remove(self.file)
        answer = huddle("run", "--stats", "--", "sh", "-c", "exit 127")
        self.assertEqual((127, ""), (answer.returncode, answer.stderr))

    def test_the_status_is_passed_on_if_sigchld_is_ignored(self):
        ended = subprocess.run(
            [HUDDLE, "run", "--stats", "--", "sh", "-c", "exit 7"],
            env=environment(),
            preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN),
            stderr=subprocess.DEVNULL,
            check=False,
        )
        self.assertEqual(7, ended.returncode)

    def test_user_signals_reach_the_command(self):
        for name in ("USR1", "USR2"):
            script = f"trap 'echo got; exit 3' {name}; echo ready; while :; do sleep .1; done"
            with subprocess.Popen(
                [HUDDLE, "run", "--stats", "--", "sh", "-c", script],
                env=environment(),
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            ) as job:
                self.assertEqual("ready\n", job.stdout.readline())
                job.send_signal(getattr(signal, f"SIG{name}"))
                self.assertEqual("got\n", job.stdout.readline())
                self.assertEqual(3, job.wait(timeout=30))

    def test_nested_huddle_run_counts_once(self):
        for command in self.each():
            words = (HUDDLE, "run", "--", *command, "end")
            answer = huddle("run", f"--stats={self.file}", "--", *words)
            self.assertEqual(0, answer.returncode, answer.stderr)
            rows = self.stats()["collectives"]
            self.assertEqual(RANKS * (CALLS + 1), rows["allreduce"]["handled"])

    def test_several_jobs_are_reported(self):
        command = [*MPIS[0][1], str(RANKS), self.build(MPIS[0][0]), "end"]
        words = ("sh", "-c", '"$@" && "$@"', "sh", *command)
        answer = huddle("run", f"--stats={self.file}", "--", *words)
        self.assertIn("huddle: several jobs were seen", answer.stderr)
        row = self.stats()["collectives"]["allreduce"]
        self.assertEqual(2 * RANKS * (CALLS + 1), row["calls"])
        self.assertEqual(0, row["waiting_seconds"] or 0)

    def test_counts_every_collective(self):
        for command in self.each():
            answer = huddle("run", f"--stats={self.file}", "--", *command, "end")
            self.assertEqual((0, ""), (answer.returncode, answer.stderr))
            stats = self.stats()
            rows = stats["collectives"]
            self.assertEqual((RANKS, RANKS), (stats["ranks"], stats["ranks_seen"]))
            self.assertEqual(RANKS, stats["finalized"])
            for name, calls, sent in (
                ("allreduce", CALLS + 1, (CALLS + 1) * 16),
                ("bcast", 2, 12),
                ("allgather", 1, 4),
                ("scatterv", 1, 4),
                ("alltoallv", 2, 4 * RANKS + 4),
                ("iallreduce", 1, 8),
                ("neighbor_allgather", 1, 4),
                ("barrier", 2, 0),
            ):
                row = rows[name]
                self.assertEqual((RANKS * calls, RANKS * sent), (row["calls"], row["bytes"]), name)
            self.assertEqual(RANKS * (CALLS + 1), rows["allreduce"]["handled"])
            self.assertEqual(RANKS, rows["bcast"]["empty"])
            # Ranks that send nothing take part in an alltoallv.
            self.assertEqual(
                (2 * RANKS, 0), (rows["alltoallv"]["handled"], rows["alltoallv"]["empty"])
            )
            self.assertEqual({"one rank": RANKS}, rows["barrier"]["passed"])
            self.assertEqual({"not supported": RANKS}, rows["neighbor_allgather"]["passed"])
            # The last rank sleeps before each call, so the others wait about that long, or longer
            # on a busy machine.
            slept = CALLS * LATE_S * (RANKS - 1)
            waited = rows["allreduce"]["waiting_seconds"]
            self.assertGreater(waited, 0.5 * slept)
            self.assertLessEqual(waited, rows["allreduce"]["seconds"])

    def test_calls_of_zero_bytes_are_shown(self):
        line = rf"(?m)^huddle: bcast +{2 * RANKS} +{RANKS} .*  {RANKS} of zero bytes$"
        for command in self.each():
            answer = huddle("run", "--stats", "--", *command, "end")
            self.assertRegex(answer.stderr, line)
            if "mpich" in command[0]:  # Open MPI itself returns from them
                answer = huddle("run", "--", *command, "end", HUDDLE_STATS="1")
                self.assertRegex(answer.stderr, line)

    def test_statistics_survive_the_end_of_the_job(self):
        for command in self.each():
            answer = huddle("run", f"--stats={self.file}", "--", *command, "abort")
            self.assertNotEqual(0, answer.returncode)
            self.assertEqual(RANKS * (CALLS + 1), self.stats()["collectives"]["allreduce"]["calls"])
            self.assertIn("ended before MPI_Finalize", answer.stderr)
            for number, group in (
                (signal.SIGTERM, False),
                (signal.SIGINT, True),  # what a terminal sends
                (signal.SIGINT, False),
            ):
                with self.subTest(signal=number, group=group):
                    self.end_by(number, group, command)

    def test_an_interrupt_reaches_the_command_once(self):
        """
        Checks that the command gets an interrupt of `huddle run` alone at once, and an interrupt of
        the whole group once.
        """
        counts = (
            "trap 'n=$((n+1))' INT; trap 'echo $n; exit' TERM; n=0; echo ready;"
            " while :; do sleep .01; done"
        )
        for group in (False, True):
            with self.subTest(group=group):
                words = (HUDDLE, "run", "--stats", "--", "sh", "-c", counts)
                job = subprocess.Popen(
                    words,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    text=True,
                    env=environment(TMPDIR=self.folder),
                    start_new_session=True,
                )
                self.assertEqual("ready\n", job.stdout.readline())
                (os.killpg if group else os.kill)(job.pid, signal.SIGINT)
                time.sleep(0.5)
                job.terminate()
                output, _ = job.communicate(timeout=60)
                self.assertEqual("1\n", output)
                self.assertEqual([], self.leftovers())

    def end_by(self, number, group, command):
        os.unlink(self.file)
        job = subprocess.Popen(
            [HUDDLE, "run", f"--stats={self.file}", "--", *command, "wait"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(TMPDIR=self.folder),
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        self.assertEqual("ready\n", job.stdout.readline())
        (os.killpg if group else os.kill)(job.pid, number)
        _, errors = job.communicate(timeout=60)
        # The exit status is the launcher's; Hydra's is sometimes 0, also without huddle.
        stats = self.stats()
        self.assertEqual(RANKS * (CALLS + 1), stats["collectives"]["allreduce"]["calls"])
        self.assertLess(stats["finalized"], RANKS)
        self.assertIn("ended before MPI_Finalize", errors)
        self.assertEqual([], self.leftovers())

    def test_an_interrupt_of_profile_alone_ends_the_command_at_once(self):
        job = subprocess.Popen(
            [HUDDLE, "profile", "--", "sh", "-c", "echo ready; exec sleep 60"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment(TMPDIR=self.folder),
            start_new_session=True,
        )
        self.assertEqual("ready\n", job.stdout.readline())
        begin = time.monotonic()
        job.send_signal(signal.SIGINT)
        job.communicate(timeout=60)
        self.assertLess(time.monotonic() - begin, recorded.OWN_END_S)
        self.assertEqual([], self.leftovers())

    def test_statistics_work_without_huddle_and_report_a_missing_mpi(self):
        for command in self.each():
            words = ("--set", "HUDDLE=off", f"--stats={self.file}", "--", *command, "end")
            self.assertEqual(0, huddle("run", *words).returncode)
            row = self.stats()["collectives"]["allreduce"]
            self.assertEqual({"huddle not in use": RANKS * (CALLS + 1)}, row["passed"])
        answer = huddle("run", "--stats", "--", "true")
        self.assertEqual(0, answer.returncode)
        self.assertRegex(answer.stderr, r"^huddle: no MPI process was seen: true [^\n]*\n$")

    def test_a_full_folder_is_reported(self):
        """Checks a folder without space for any rank, and without space for one rank."""
        mount = 'mount -t tmpfs -o size=$0 none "$1" && shift && "$@"'
        small = ("unshare", "--mount", "sh", "-c", mount)
        place = tempfile.mkdtemp(dir=self.folder)
        if subprocess.run([*small, "64k", place, "true"], capture_output=True).returncode != 0:
            self.skipTest("this user cannot mount a file system")
        record = 'at=$1; shift; "$0" run --record "$at" -- "$@" end; "$0" profile --from "$at"'
        for command in self.each():
            for size, missing in (("64k", RANKS), ("1500k", RANKS - 1)):
                answer = subprocess.run(
                    [*small, size, place, "sh", "-c", record, HUDDLE, place, *command],
                    capture_output=True,
                    text=True,
                    env=environment(),
                    timeout=120,
                    check=False,
                )
                output = answer.stderr
                self.assertEqual(missing == RANKS, answer.returncode == 1, output)
                self.assertEqual(
                    1,
                    output.count(
                        f"HUDDLE_RECORD={place}: cannot create a file in this folder: No space"
                    ),
                )
                self.assertIn(f"no room in {place} for the records of {missing} process", output)
                self.assertNotIn("no MPI process", output)
                self.assertNotIn("ranks left a record", output)

    def test_the_tutorial_shows_the_real_output(self):
        """Checks each line of the page's first program."""
        if not shutil.which("mpirun.openmpi"):
            self.skipTest("no Open MPI here")
        program = os.path.join(self.folder, "pi")
        source = os.path.join(SOURCE, "examples", "pi.c")
        subprocess.run(["mpicc.openmpi", "-O2", source, "-o", program, "-lm"], check=True)
        answer = huddle("run", "--stats", "--", *MPIS[0][1], "2", program)
        printed = (answer.stdout + answer.stderr).splitlines()
        with open(os.path.join(SOURCE, "docs", "tutorial.md"), encoding="utf-8") as page:
            shown = re.search(r"```\n(pi is [^`]*)```", page.read())[1].splitlines()
        self.assertEqual(len(shown), len(printed), answer.stderr)
        self.assertEqual(shown[0], printed[0])

        def words(line):
            """Returns the words of a line except for times, versions and memory."""
            kept = line.partition(" memory ")[0]
            return re.sub(r"\d+[.][\d.]+", "N", kept).split()

        for wanted, line in zip(shown, printed):
            self.assertEqual(words(wanted), words(line))

    def test_names_a_launcher_of_another_mpi(self):
        if len(MPIS) < 2:
            self.skipTest("one MPI here")
        program = self.build(MPIS[1][0])
        command = [*MPIS[0][1], "2", program, "end"]
        answer = huddle("run", "--stats", "--", *command)
        self.assertIn("2 processes of 1 rank each", answer.stderr)
        self.assertIn("use the launcher of the program's MPI", answer.stderr)


class Require(Recorded):
    def ends(self, command, reason, *words, **more):
        """Checks that the job of the command fails with a single line."""
        answer = huddle("run", *words, "--", *command, "end", **more)
        self.assertNotEqual(0, answer.returncode)
        lines = [line for line in answer.stderr.splitlines() if line.startswith("huddle: ")]
        self.assertEqual(1, len(lines), answer.stderr)
        self.assertRegex(lines[0], reason)

    def only(self, command, ranks, *words):
        """Inserts words before the program, on these ranks."""
        rank = "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}"
        script = f'[ {rank} -{ranks} ] && exec {" ".join(words)} "$0" "$@"; exec "$0" "$@"'
        return [*command[:-1], "sh", "-c", script, command[-1]]

    def test_require_ends_the_job_with_one_line(self):
        reason = "^huddle: HUDDLE=require: rank {} ends: HUDDLE_WAIT=never is not valid"
        for command in self.each():
            for ranks, named in (("ge 0", "[0-2]"), ("ge 1", "[12]")):
                words = self.only(command, ranks, "env", "HUDDLE_WAIT=never")
                self.ends(words, reason.format(named), "--set", "HUDDLE=require")

    def test_require_ends_the_job_of_an_mpi_without_front_end(self):
        (loader,) = glob.glob(os.path.join(BUILD, "lib*", "huddle", "libhuddle-loader.so"))
        alone = shutil.copy(loader, self.folder)
        reason = "huddle was built without a front end for it; HUDDLE=require ends the job$"
        words = ("env", f"LD_PRELOAD={alone}", "HUDDLE=require")
        for command in self.each():
            self.ends(self.only(command, "ge 0", *words), reason, HUDDLE_LOG="error")

    def test_without_require_each_bad_setting_is_a_line(self):
        for command in self.each():
            words = ("--", *command, "end")
            answer = huddle("run", *words, HUDDLE_WAIT="never", HUDDLE_BCAST="fast")
            self.assertEqual(0, answer.returncode, answer.stderr)
            for name in ("HUDDLE_WAIT=never", "HUDDLE_BCAST=fast"):
                self.assertEqual(1, answer.stderr.count(f"huddle: {name} is not"), answer.stderr)
            answer = huddle("run", "--set", "HUDDLE=require", f"--stats={self.file}", *words)
            self.assertEqual(0, answer.returncode, answer.stderr)
            self.assertEqual({}, self.stats()["collectives"]["allreduce"]["passed"])


class Log(Recorded):
    def test_debug_logs_a_healthy_run(self):
        for command in self.each():
            answer = huddle("run", "--set", "HUDDLE_LOG=debug", "--", *command, "end")
            self.assertEqual(0, answer.returncode, answer.stderr)
            self.assertRegex(answer.stderr, rf"a team of {RANKS} ranks is ready: \d+ KiB of each")


class Profile(Recorded):
    def profile(self, *words):
        page = os.path.join(self.folder, "page.html")
        answer = huddle("profile", "--json", self.file, "--html", page, *words)
        self.assertEqual(0, answer.returncode, answer.stderr)
        with open(page, encoding="utf-8") as file:
            return self.stats(), answer, file.read()

    def test_profile_shows_where_the_time_goes(self):
        for command in self.each():
            found, answer, page = self.profile("--", *command, "end")
            first = found["callers"][0]
            self.assertEqual(("allreduce", RANKS * CALLS), (first["collective"], first["calls"]))
            self.assertIn("16+", first["sizes"])
            self.assertGreater(first["waiting_seconds"], 0.5 * first["seconds"])
            names = {row["communicator"] for row in found["communicators"]}
            self.assertIn(f"reversed ({RANKS})", names)
            late = max(found["lateness"], key=lambda row: row["caused_seconds"])
            self.assertEqual(RANKS - 1, late["rank"])
            self.assertGreaterEqual(late["last"], CALLS // 2)
            self.assertGreater(late["mean_late_seconds"], LATE_S / 2)
            self.assertIn("neighbor_allgather", answer.stderr)
            self.check_page(page)

    def check_page(self, page):
        """Checks that the page loads nothing, has its plots, and both themes."""
        self.assertNotRegex(page, r"(?i)https?://|<script|<link|src=|url\(")
        self.assertEqual(3, page.count("<svg"))
        self.assertIn("prefers-color-scheme:dark", page)
        for words in ("waiting for late ranks", "neighbor_allgather", "rank 2", "one rank"):
            self.assertIn(words, page)

    def test_profile_works_without_huddle_and_from_records(self):
        for command in self.each():
            found, _, _ = self.profile("--off", "--", *command, "end")
            self.assertFalse(found["huddle"])
            self.assertEqual(
                {"huddle not in use": RANKS * (CALLS + 1)}, found["collectives"][0]["fell_back"]
            )
            folder = tempfile.mkdtemp(dir=self.folder)
            huddle("run", "--record", folder, "--", *command, "end")
            again, _, _ = self.profile("--from", folder)
            self.assertEqual(RANKS * (CALLS + 1), again["collectives"][0]["calls"])
            os.truncate(os.path.join(folder, os.listdir(folder)[0]), 5000)
            rest, answer, _ = self.profile("--from", folder)
            self.assertEqual((RANKS - 1) * (CALLS + 1), rest["collectives"][0]["calls"])
            self.assertIn("huddle: 1 record in ", answer.stderr)
            self.assertNotIn("left a record", answer.stderr)

    def test_calls_that_are_timed_represent_all(self):
        """
        Checks that calls count by the number of calls they represent, however often the clock is
        read.
        """
        for command in self.each():
            folder = tempfile.mkdtemp(dir=self.folder)
            answer = huddle("run", "--record", folder, "--", *command, "quick")
            self.assertEqual(0, answer.returncode, answer.stderr)
            ranks = records.read(folder)
            self.assertEqual(RANKS, len(ranks))
            for rank in ranks:
                cell = max(rank.cells, key=lambda cell: cell.calls)
                self.assertEqual(20000, cell.calls)
                self.assertLessEqual(cell.timed, cell.represents)
                self.assertAlmostEqual(1, cell.represents / cell.calls, delta=0.2)

    def learn(self, mpi):
        """Writes what an earlier run has learned with this MPI.  Returns the file."""
        query = os.path.join(BUILD, "libexec", "huddle", "query")
        answer = subprocess.run(
            [query, "wisdom", mpi],
            stdout=subprocess.PIPE,
            env=environment(XDG_CACHE_HOME=self.folder),
            check=True,
        )
        place = json.loads(answer.stdout)
        os.makedirs(os.path.dirname(place["file"]))
        with open(place["file"], "w", encoding="utf-8") as file:
            print(place["machine"], file=file)
            for over in ("yes", "no"):
                conditions = f"ranks={RANKS} bytes=9-16 oversubscribed={over}"
                print(f"allreduce {conditions} -> mpi | ns=9000 samples=9", file=file)
        return place["file"]

    def test_profile_estimates_savings_from_learned_times(self):
        command = [*MPIS[0][1], str(RANKS), self.build(MPIS[0][0]), "end"]
        page = os.path.join(self.folder, "page.html")
        words = ("profile", "--json", self.file, "--html", page)
        home = {"XDG_CACHE_HOME": self.folder, "HUDDLE_WISDOM": "off"}  # calls are huddle's
        answer = huddle(*words, "--", *command, **home)
        self.assertIn(" were learned on this machine; huddle tune --mpi", answer.stderr)
        learned = self.learn(self.stats()["mpi"])
        answer = huddle(*words, "--", *command, **home)
        self.assertEqual(0, answer.returncode, answer.stderr)
        found = self.stats()["saving"]
        self.assertIsNone(found["unknown"])
        self.assertEqual(learned, found["file"])
        self.assertEqual(RANKS * (CALLS + 1), found["covered"])
        self.assertEqual([RANKS], found["measured_ranks"])
        rows = {row["collective"]: row for row in found["collectives"]}
        saved = rows["allreduce"]["without_huddle_seconds"] - rows["allreduce"]["seconds"]
        self.assertAlmostEqual(saved, found["saved_seconds"])
        self.assertIsNone(rows["bcast"]["saved_seconds"])
        with open(page, encoding="utf-8") as file:
            for text in (answer.stderr, file.read()):
                self.assertIn("Saved by huddle, an estimate: ", text)
        answer = huddle(*words, "--off", "--", *command, **home)
        self.assertEqual({"unknown": "huddle handled no calls"}, self.stats()["saving"])

    def test_bad_options_are_reported_in_one_line(self):
        for words, status in (
            ((), 2),
            (("--from", "/no/such"), 2),
            (("--html", "/no/such/page", "--", "true"), 2),
            (("--", "true"), 1),
            (("--", "false"), 1),
            (("--", "/no/such"), 127),
            (("--", "/"), 126),
        ):
            with self.subTest(words=words):
                answer = huddle("profile", *words)
                self.assertEqual(status, answer.returncode)
                self.assertRegex(answer.stderr, r"^huddle: [^\n]*\n$")


class Compare(Recorded):
    def test_compare_runs_a_program_without_and_with_huddle(self):
        command = [*MPIS[0][1], "2", self.build(MPIS[0][0]), "end"]
        answer = huddle("compare", "--runs", "2", "--json", self.file, "--", *command)
        self.assertEqual(0, answer.returncode, answer.stderr)
        found = self.stats()
        self.assertEqual((2, True), (found["runs"], found["same_output"]))
        self.assertEqual("noise", found["verdict"])  # two runs prove nothing
        self.assertGreater(found["handled"], 0)
        self.assertIn(f"With huddle {found['handled']} of {found['calls']} calls", answer.stdout)
        self.assertIn("s left", answer.stderr)
        self.assertIn("allreduce", found["by_collective"])
        for part in ("seconds", "collectives"):
            self.assertEqual(2, len(found[part]["without"]))
            self.assertIsNone(found[part]["ratio"]["low"])

    def test_compare_refuses_a_bad_setting(self):
        answer = huddle("compare", "--runs", "1", "--", "true", HUDDLE_MEMORY="bogus")
        self.assertEqual((2, ""), (answer.returncode, answer.stdout))
        self.assertIn("HUDDLE_MEMORY=bogus", answer.stderr)

    def test_compare_reports_outputs_that_differ(self):
        job = [*MPIS[0][1], "2", self.build(MPIS[0][0]), "end"]
        for program, status, expected in (
            ('echo "$HUDDLE"', 1, "differs from that without"),
            ("date +%N", 0, "without huddle, too"),
            ("echo same", 0, "the same in all runs"),
        ):
            words = ["sh", "-c", f'"$@" >/dev/null; {program}', "sh", *job]
            answer = huddle("compare", "--runs", "2", "--", *words)
            self.assertEqual(status, answer.returncode, answer.stdout)
            self.assertIn(expected, answer.stdout)

    def test_bad_options_are_reported_in_one_line(self):
        for words, status in (
            (("--",), 2),
            (("--runs", "0", "--", "true"), 2),
            (("--json", "/no/such/file", "--", "true"), 2),  # fails before anything runs
        ):
            answer = huddle("compare", *words)
            self.assertEqual(status, answer.returncode)
            self.assertRegex(answer.stderr, r"^huddle: [^\n]*\n$")
        count = os.path.join(self.folder, "count")
        answer = huddle("compare", "--runs", "9", "--", "sh", "-c", f"echo >>{count}")
        self.assertEqual((1, ""), (answer.returncode, answer.stdout))
        self.assertIn("huddle: no MPI process was seen: sh ", answer.stderr)
        with open(count, encoding="utf-8") as file:
            self.assertEqual(1, len(file.readlines()), "one run tells")
        answer = huddle("compare", "--runs", "1", "--", "sh", "-c", "echo bad >&2; exit 4")
        self.assertEqual(1, answer.returncode)
        self.assertIn("status 4 without huddle: bad", answer.stderr)


# Ctrl-C must end the processes started here, even if this test itself was started in the
# background.
signal.signal(signal.SIGINT, signal.default_int_handler)
