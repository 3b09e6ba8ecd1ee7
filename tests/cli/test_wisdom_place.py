# SPDX-License-Identifier: BSD-3-Clause
"""Tests where huddle wisdom reads and writes, and that a useless place is reported."""

import contextlib
import io
import json
import os
import types
import unittest
from unittest import mock

from wisdom_files import MACHINE, MPI, NAME, OWN, QUEUE, Folder

from cli import run
from cli.common import wisdom_place
from cli.common.layout import CliError


class Named(Folder):
    """Tests of a file that HUDDLE_WISDOM names, next to the files of the user's folder."""

    def setUp(self):
        super().setUp()
        self.write(OWN)
        self.named = os.path.join(self.home, "named.rules")
        self.machine = self.place()[1]
        self.write(QUEUE, path=self.named, machine=self.machine)

    def wisdom(self, *words, file=None, status=0):
        answer = self.run_it("wisdom", *words, HUDDLE_WISDOM=file or self.named)
        self.assertEqual(status, answer.returncode, answer.stderr)
        return answer.stdout + answer.stderr

    def test_show_and_export_read_the_named_file(self):
        for file in (self.named, os.path.relpath(self.named)):
            text = self.wisdom(file=file)
            self.assertIn("bcast", text)
            self.assertNotIn("alltoall", text)
            (found,) = json.loads(self.wisdom("--json", file=file))
            self.assertEqual((file, True, ""), (found["file"], found["here"], found["not_used"]))
            self.assertIn(QUEUE, self.wisdom("export", file=file).split("\n"))
        self.assertIn("Nothing was learned with mpich4 yet", self.wisdom("--mpi", "mpich4"))
        nowhere = os.path.join(self.home, "nowhere.rules")
        self.assertIn(f"Nothing was learned yet, in {nowhere}.", self.wisdom(file=nowhere))

    def test_forget_changes_the_named_file(self):
        self.write(QUEUE, OWN, path=self.named, machine=self.machine)
        self.assertEqual("Forgotten: 1 case\n", self.wisdom("forget", "bcast"))
        (found,) = json.loads(self.wisdom("--json"))
        self.assertEqual(["alltoall"], [cell["name"] for cell in found["cases"]])
        self.assertEqual("Forgotten: 0 files\n", self.wisdom("forget", "--all", "--mpi", "mpich4"))
        self.assertEqual("Forgotten: 1 file\n", self.wisdom("forget", "--all"))
        self.assertFalse(os.path.exists(self.named))
        self.assertEqual([NAME], os.listdir(self.folder), "the user's folder stays as it is")

    def test_import_writes_the_named_file(self):
        more = os.path.join(self.home, "more.rules")
        self.write(OWN, path=more, machine=self.machine)
        self.assertIn("1 case added", self.wisdom("import", more))
        with open(self.named, encoding="utf-8") as file:
            self.assertEqual([QUEUE, OWN], file.read().split("\n")[2:4])
        self.assertEqual([NAME], os.listdir(self.folder))

    def test_a_file_of_another_machine_is_used_and_not_changed(self):
        more = os.path.join(self.home, "more.rules")
        self.write(OWN, path=more, machine=self.machine)
        self.write(QUEUE, path=self.named, machine=MACHINE)
        text = self.wisdom()
        why = f"{self.named}: it is not written: it was measured on another machine"
        output = f"Programs use this file, and add nothing to it: {why}.\n"
        remedy = f"huddle wisdom import {self.named} --force takes it over; rm {self.named} begins"
        self.assertIn(output, text)
        self.assertIn(remedy, text)
        self.assertIn(f"{why} ({remedy}", self.wisdom("import", more, status=1))
        self.assertIn("1 case added", self.wisdom("import", more, "--force"))
        self.assertNotIn("not written", self.wisdom())

    def test_a_bad_value_is_refused(self):
        text = self.wisdom("forget", "--all", file="sometimes", status=2)
        self.assertRegex(text, r"^huddle: HUDDLE_WISDOM=sometimes is not valid [^\n]*\n$")


class Unkept(Folder):
    """Tests of places in which programs cannot keep what they learn."""

    def doctor(self, **environment):
        answer = self.run_it("doctor", "--json", "--ranks", "2", **environment)
        found = [row for row in json.loads(answer.stdout)["findings"] if row["name"] == "wisdom"]
        self.assertEqual(1, len(found))
        return found[0]

    def test_doctor_names_the_folder(self):
        found = self.doctor()
        self.assertEqual(
            ("ok", f"programs keep what they learn in {self.folder}"),
            (found["state"], found["text"]),
        )
        for value in ("off", "read"):
            self.assertEqual("ok", self.doctor(HUDDLE_WISDOM=value)["state"])

    def test_doctor_names_a_useless_folder(self):
        file = os.path.join(self.home, "file")
        with open(file, "w", encoding="utf-8"):
            pass
        another = "names another place"
        for environment, text, change in (
            ({"XDG_CACHE_HOME": file}, f"{file}/huddle: {file} is not a directory", another),
            ({"XDG_CACHE_HOME": "/proc/x"}, "/proc cannot be written: ", another),
            ({"HUDDLE_WISDOM": "/proc/x"}, "/proc cannot be written: ", another),
            (
                {"HUDDLE_WISDOM": f"{self.home}/no/x"},
                f"learn in {self.home}/no/x: {self.home}/no does not exist",
                f"mkdir -p {self.home}/no does",
            ),
            (
                {"XDG_CACHE_HOME": "cache", "HOME": self.home},
                f"kept in {self.home}/.cache/huddle, as XDG_CACHE_HOME=cache is not an absolute",
                "set an absolute path",
            ),
            ({"XDG_CACHE_HOME": "", "HOME": "here"}, "there is no place for wisdom", "set HOME"),
        ):
            with self.subTest(environment=environment):
                found = self.doctor(**environment)
                self.assertEqual("warn", found["state"])
                self.assertIn(text, found["text"])
                self.assertIn(change, found["change"])

    def test_doctor_names_a_file_that_programs_refuse(self):
        path, machine = self.place()
        self.write(QUEUE, path=path, machine=machine.replace("processors=", "processors=9"))
        found = self.doctor()
        self.assertEqual("warn", found["state"])
        self.assertIn(f"{path}: it is not used: it was measured on another", found["text"])
        self.assertIn(f"rm {path} begins anew", found["change"])

    def test_missing_place_is_reported_in_one_line(self):
        answer = self.run_it("wisdom", XDG_CACHE_HOME="", HOME="here")
        self.assertEqual((1, ""), (answer.returncode, answer.stdout))
        self.assertRegex(answer.stderr, r"^huddle: there is no place for wisdom: [^\n]*\n$")


class Statistics(unittest.TestCase):
    def test_a_useless_place_is_a_line(self):
        learned = dict.fromkeys(("decided", "changed", "known", "learned", "trials", "native"), 0)
        for ranks, expected in (([], ""), ([0], "huddle: learned        it is full; free it\n")):
            core = types.SimpleNamespace(ranks=ranks, learned=lambda: learned)
            with (
                mock.patch.object(wisdom_place, "unkept", lambda _: ("it is full", "free it")),
                contextlib.redirect_stderr(io.StringIO()) as output,
            ):
                run.show_learned(types.SimpleNamespace(core=core), None)
            self.assertEqual(expected, output.getvalue())

    def test_a_bad_setting_is_left_to_the_job(self):
        with mock.patch.object(wisdom_place, "setting", mock.Mock(side_effect=CliError("bad"))):
            self.assertIsNone(wisdom_place.unkept(None))


class Names(unittest.TestCase):
    def test_names_of_mpis(self):
        for name in ("ompi4", "mpich5", "intel", "Open MPI 4.1", "MPICH 4.0.2", "Intel MPI 2021"):
            wisdom_place.check_mpi(name, [])
        for name in ("", "open", "lam", "ompi", "mpi"):
            with self.assertRaisesRegex(CliError, "not an MPI that huddle knows"):
                wisdom_place.check_mpi(name, [])

    def test_a_file_belongs_to_the_mpi_of_its_name(self):
        for name, own in (
            (NAME, MPI),
            ("a.rules", MPI),
            (NAME[:6] + "-mpich-4.0.2" + NAME[20:], ""),
        ):
            found = wisdom_place.Wisdom(f"/x/{name}", {"mpi": MPI}, [])
            self.assertEqual(own or "mpich-4.0.2", found.mpi)
