# SPDX-License-Identifier: BSD-3-Clause
"""
Tests odd arguments, files and environments of commands: an error is one line, and never a
traceback.
"""

import contextlib
import io
import os
import re
import subprocess
import tempfile
import unittest
from unittest import mock

from paths import BUILD, SOURCE

from cli import main
from cli.common import records, validators
from cli.common.command_line import Command

HEAD = "collective,ranks,algorithm,bytes,us\n"
ROW = "bcast,2,queue,8,1\n"
BARE = b'name = "x"\ntopology = "pu:2"\n'
ASCII = {"PYTHONIOENCODING": "ascii:strict"}
PROGRESS = re.compile(r"huddle: \d+ of \d+ done.*")

# Arguments that are errors: status 2, and one line.
REFUSED = (
    "-",
    "--no-such",
    "no-such",
    "explain ''",
    "explain bcast bcast",
    "explain bcast --bytes foo",
    "explain bcast --bytes -1",
    "explain bcast --bytes 999999999999999999G",
    "explain bcast --bytes 8,,8 --json",
    "explain bcast --bytes : --ranks 2:8",
    "explain bcast --bytes foo --nodes 2",
    "explain bcast --bytes '' --nodes 2",
    "explain bcast --bytes 9:3 --nodes 2",
    "explain bcast --bytes 8: --nodes 2",
    "explain bcast --bytes 999999999999999999G --nodes 2",
    "explain bcast --nodes 99999999999999999999",
    "explain bcast --ranks :",
    "explain bcast --ranks ²",
    "explain bcast --machine ''",
    "explain bcast --machine line\nbreak",
    "explain bcast --machine FOLDER/binary.toml",
    "explain bcast --machine FOLDER/folder.toml",
    "explain bcast --machine FOLDER/bare.toml",
    "validate ''",
    "validate --data ''",
    "validate --data FOLDER",
    "validate --data FOLDER/none.csv",
    "validate --data FOLDER/folder.csv",
    "validate --data FOLDER/binary.csv",
    "validate --data FOLDER/empty.csv",
    "validate --data FOLDER/wide.csv",
    "validate --data FOLDER/wide-head.csv",
    "validate --data FOLDER/zero-byte.csv",
    "validate --data FOLDER/quote.csv",
    "validate --data FOLDER/huge.csv",
    "validate --data FOLDER/bare.csv",
    "validate --data FOLDER/bare.csv --bytes ''",
    "validate --ranks -1",
    "simulate bcast --machine xeon-e5620 --bytes foo",
    "simulate bcast --machine xeon-e5620 --algorithm ''",
    "simulate bcast --machine xeon-e5620 --bytes 8 --repetitions 9223372036854775807",
    "simulate bcast --machine xeon-e5620 --bytes 8 --skew nan",
    "simulate bcast --machine FOLDER/binary.toml",
    "model ''",
    "model barrier --bytes ''",
    "model bcast --machine FOLDER/bare.toml",
    "model bcast --machine xeon-e5620 --queue 999999999999999999G",
    "model bcast --machine xeon-e5620 --buffers 9223372036854775807",
    "model bcast --nodes 2 --network ''",
    "model bcast --nodes 2 --network inf,inf,inf",
    "model bcast --nodes 2 --bytes 0",
    "profile --from ''",
    "profile --from FOLDER/none",
    "profile --from FOLDER/bare.csv",
    "compare --runs -1 -- true",
    "who -1",
    "who one",
    "info --ranks 99999999999999999999",
    "settings no-such",
    "doctor --ranks -1",
    "reproduce ''",
    "reproduce 04 --page ''",
)


def described(name):
    """Returns a description of a machine with this name."""
    path = os.path.join(SOURCE, "lab", "machines", "recorded", "xeon-4-cores.toml")
    with open(path, encoding="utf-8") as file:
        return re.sub("(?m)^name = .*", f'name = "{name}"', file.read()).encode()


class Odd(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = scratch.name
        binary = bytes(range(256)) * 8
        for name in ("folder.toml", "folder.csv", "records", "home"):
            os.mkdir(os.path.join(cls.folder, name))
        for name, content in {
            "binary.toml": binary,
            "binary.csv": binary,
            "empty.csv": b"",
            "wide.csv": f"{HEAD}bcast,2,queue,8,{'1' * 200000}\n".encode(),
            "wide-head.csv": b"c" * 200000,
            "zero-byte.csv": f"{HEAD}bcast,2,que\0ue,8,1\n".encode(),
            "quote.csv": f'{HEAD}"bcast,2,queue,8,1\n{ROW}'.encode(),
            "huge.csv": f"{HEAD}bcast,2,queue,{'9' * 4000},1\n".encode(),
            "bare.csv": (HEAD.replace("us", "us,line_ns") + ROW.replace("1\n", "1,50\n")).encode(),
            "bare.toml": BARE,
            "zero-byte.toml": BARE,
            "huge.toml": BARE,
            "quote.toml": b'[[bcast]]\nalgorithm = "queue\n',
            "mu.toml": described("\N{GREEK SMALL LETTER MU}"),
            "records/binary.1": binary,
            "records/few.2": records.MAGIC + b"\xff" * 4000,
            # Three communicators, but no memory for any.
            "records/damaged.3": records.HEAD.pack(
                records.MAGIC, *[0] * 18, 3, *[0] * 6, b"", b"", b""
            ),
            # More names than fit in any file.
            "records/endless.4": records.HEAD.pack(
                records.MAGIC, *[0] * 17, 2**32 - 1, *[0] * 7, b"", b"", b""
            ),
        }.items():
            with open(os.path.join(cls.folder, name), "wb") as file:
                file.write(content)

    def ask(self, *words, processors=None, **environment):
        """
        Returns (status, standard error without lines of progress).  `processors` are the processors
        of the command.
        """
        clean = {k: v for k, v in os.environ.items() if not k.startswith("HUDDLE")}
        done = subprocess.run(
            [os.path.join(BUILD, "bin", "huddle"), *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=100,
            check=False,
            preexec_fn=lambda: processors and os.sched_setaffinity(0, processors),
            env={**clean, "XDG_CONFIG_HOME": os.path.join(self.folder, "home"), **environment},
        )
        output = done.stderr.decode(errors="replace")
        self.assertNotIn("Traceback", output)
        lines = [line for line in output.splitlines() if not PROGRESS.fullmatch(line)]
        return done.returncode, lines

    def check_refused(self, *words, **more):
        status, lines = self.ask(*words, **more)
        self.assertEqual((2, 1), (status, len(lines)), lines)
        self.assertTrue(lines[0].startswith("huddle: "), lines)
        return lines[0]

    def test_odd_arguments_and_files_are_one_line(self):
        for line in REFUSED:
            words = ["" if w == "''" else w.replace("FOLDER", self.folder) for w in line.split(" ")]
            with self.subTest(line):
                self.check_refused(*words)

    def test_arguments_that_are_not_utf8_are_one_line(self):
        for words in (("explain", "\udcff"), ("explain", "bcast", "--machine", "\udcff.toml")):
            with self.subTest(words=words):
                self.check_refused(*words)

    def test_invalid_tuning_files_are_one_line(self):
        for name in ("quote.toml", "binary.toml", "bare.toml", "folder.toml", "none.toml"):
            for words in (("explain", "bcast"), ("explain", "bcast", "--nodes", "2")):
                with self.subTest(name=name, words=words):
                    path = os.path.join(self.folder, name)
                    self.check_refused(*words, HUDDLE_TUNING=path)

    def test_validate_with_one_processor(self):
        one = {min(os.sched_getaffinity(0))}
        for words in (
            ("lab", "validate"),
            *(("lab", "validate", *more) for more in (("--ranks", "2"), ("--bytes", "foo"))),
        ):
            with self.subTest(words=words):
                line = self.check_refused(*words, processors=one)
                self.assertIn("(accepted: 2 cores or more, or --data NAME)", line)

    def test_records_that_are_damaged(self):
        status, lines = self.ask("profile", "--from", os.path.join(self.folder, "records"))
        self.assertEqual((1, 1), (status, len(lines)), lines)
        self.assertRegex(lines[0], "^huddle: 3 records in .* cannot be read")

    def test_output_escapes_characters_that_the_encoding_lacks(self):
        path = os.path.join(self.folder, "mu.toml")
        for words, more in (
            (("explain", "bcast", "--ranks", "2", "--machine", path), ASCII),
            (("lab", "model", "bcast", "--machine", path), ASCII),
            (("run", "--explain", "--", "\udcff"), {"PYTHONIOENCODING": "utf-8:strict"}),
        ):
            with self.subTest(words=words):
                self.assertEqual((0, []), self.ask(*words, **more))


class Rule(unittest.TestCase):
    """Tests of a rule for any command."""

    def test_a_value_that_a_command_reads_itself(self):
        def fail(*_):
            raise validators.argument("foo", "a size", "not a size")

        with (
            mock.patch.object(main.Huddle, "imported", return_value=Command(fail, ())),
            mock.patch.object(main.stop, "listen"),
            contextlib.redirect_stderr(io.StringIO()) as output,
        ):
            status = main.main(["info"], None)
        line = "huddle: info: foo: not a size (accepted: a size)\n"
        self.assertEqual((2, line), (status, output.getvalue()))
