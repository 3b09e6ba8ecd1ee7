# SPDX-License-Identifier: BSD-3-Clause
"""
Tests that commands write their output files completely or not at all.
"""

import os
import resource
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import unittest

from harness import without_progress
from paths import BUILD, SOURCE

from cli.common import output_files
from cli.common.layout import CliError

MAX_FILE_BYTES = 16 << 10  # maximum bytes of a file in a process for which the disk is then full


def full_disk():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (MAX_FILE_BYTES, MAX_FILE_BYTES))


def huddle(*words, **how):
    with tempfile.TemporaryDirectory() as empty:
        return without_progress(
            subprocess.run(
                [os.path.join(BUILD, "bin", "huddle"), *words],
                **{"stdout": subprocess.PIPE, **how},
                stderr=subprocess.PIPE,
                text=True,
                env={**os.environ, "XDG_CONFIG_HOME": empty, "MPLCONFIGDIR": empty},
                timeout=100,
                check=False,
            )
        )


class Written(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = self.scratch.name
        self.path = os.path.join(self.folder, "file")

    def tearDown(self):
        self.scratch.cleanup()

    def content(self):
        with open(self.path, encoding="utf-8") as file:
            return file.read()

    def test_text_and_bytes(self):
        for content in ("täxt", "täxt".encode()):
            output_files.write(self.path, content)
            self.assertEqual("täxt", self.content())
        self.assertEqual(["file"], os.listdir(self.folder))

    def test_the_mode_follows_umask_or_the_old_file(self):
        before = os.umask(0o027)
        try:
            output_files.write(self.path, "")
            self.assertEqual(0o640, stat.S_IMODE(os.stat(self.path).st_mode))
            os.chmod(self.path, 0o604)
            output_files.write(self.path, "")
            self.assertEqual(0o604, stat.S_IMODE(os.stat(self.path).st_mode))
        finally:
            os.umask(before)

    def test_links_are_written_through(self):
        link = os.path.join(self.folder, "link")
        os.symlink("file", link)
        output_files.write(link, "1")
        self.assertTrue(os.path.islink(link))
        self.assertEqual("1", self.content())

    def test_a_pipe_is_written_into(self):
        os.mkfifo(self.path)
        heard = []
        reader = threading.Thread(target=lambda: heard.append(self.content()))
        reader.start()
        output_files.write(self.path, "said")
        reader.join()
        self.assertEqual(["said"], heard)
        self.assertTrue(stat.S_ISFIFO(os.stat(self.path).st_mode))

    def test_a_full_disk_leaves_the_old_file(self):
        program = (
            f"import sys; sys.path.insert(0, {SOURCE!r}); from cli.common import output_files;"
            f" output_files.write({self.path!r}, 'x' * {2 * MAX_FILE_BYTES})"
        )
        for before in ([], ["file"]):
            answer = subprocess.run(
                [sys.executable, "-Bc", program],
                stderr=subprocess.PIPE,
                text=True,
                preexec_fn=full_disk,
                check=False,
            )
            self.assertIn(f"{self.path} cannot be written: File too large", answer.stderr)
            self.assertEqual(before, os.listdir(self.folder))
            with open(self.path, "w", encoding="utf-8") as file:
                file.write("old")
        self.assertEqual("old", self.content())

    def test_unwritable_paths_have_a_reason(self):
        for path, why in (
            ("", "the name of the file is missing"),
            (self.folder, "it is a directory"),
            (f"{self.folder}/none/x", f"there is no such directory: {self.folder}/none"),
            (self.path, None),
            ("/dev/null", None),
        ):
            self.assertEqual(why, output_files.why_not(path))
        self.assertEqual(
            "it is not a regular file", output_files.why_not("/dev/null", replaced=True)
        )
        self.assertEqual([], os.listdir(self.folder))

    def test_folders_are_not_made(self):
        with self.assertRaisesRegex(
            CliError, "--figures /none/x: cannot be written: there is no such directory"
        ):
            output_files.check_folder("--figures", "/none/x")

    def test_a_file_is_refused_as_a_folder(self):
        with (
            open(self.path, "w", encoding="utf-8"),
            self.assertRaisesRegex(CliError, "it is not a directory"),
        ):
            output_files.check_folder("--figures", self.path)


class Commands(unittest.TestCase):
    def test_output_files_are_checked_before_the_work(self):
        for words, option in ((("bench",), "--csv"), (("bench",), "--png")):
            with self.subTest(words):
                answer = huddle(*words, option, "/none/x")
                self.assertEqual((2, ""), (answer.returncode, answer.stdout))
                self.assertRegex(
                    answer.stderr,
                    rf"^huddle: {option} /none/x: cannot be written: there is no [^\n]*\n$",
                )

    def test_a_full_standard_output_is_an_error(self):
        for words in (("settings",), ("--help",), ("bench", "--help"), ("run", "--help")):
            with self.subTest(words), open("/dev/full", "w", encoding="utf-8") as full:
                answer = huddle(*words, stdout=full)
                self.assertEqual(
                    (1, "huddle: standard output cannot be written: No space left on device\n"),
                    (answer.returncode, answer.stderr),
                )

    def test_a_closed_standard_output_is_an_error(self):
        closed = os.open(os.devnull, os.O_RDONLY)
        answer = subprocess.run(
            ["sh", "-c", 'exec "$0" info >&-', os.path.join(BUILD, "bin", "huddle")],
            stdin=closed,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
        os.close(closed)
        self.assertEqual(
            (1, "huddle: standard output cannot be written: it is closed\n"),
            (answer.returncode, answer.stderr),
        )

    def test_help_describes_how_files_are_written(self):
        for command in ("bench", "tune"):
            self.assertIn(
                output_files.HELP, " ".join(huddle(command, "--help").stdout.split()), command
            )
