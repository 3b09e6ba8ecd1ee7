# SPDX-License-Identifier: BSD-3-Clause
"""Tests MPIs that vendors build from MPICH: they are served if they have MPICH's ABI."""

import re
import shutil

from processes import WithMpi, huddle, lines, run


class Vendors(WithMpi):
    def child(self, name, *changes, soname="libmpich.so.12"):
        """
        Makes an MPI that differs from MPICH in some texts and in its library's name, as vendors'
        MPIs do.  Returns a job of two ranks.
        """
        program = self.build(f"{name}/sums", "sums.c", compiler="mpicc.mpich")
        library = re.search(r"libmpich.so.12 => (\S+)", run("ldd", program).stdout)[1]
        renamed = (b"libmpich.so.12\0", soname.encode() + b"\0")
        for path, target, more in (
            (program, program, ()),
            (library, self.at(name, soname), changes),
        ):
            with open(path, "rb") as file:
                text = file.read()
            for old, new in (renamed, *more):
                self.assertIn(old, text)
                text = text.replace(old, new)
            with open(target, "wb") as file:
                file.write(text)
        return ["mpiexec.mpich", "-n", "2", "env", f"LD_LIBRARY_PATH={self.at(name)}", program]

    def test_vendors_mpis_are_served_if_they_have_the_abi(self):
        if not shutil.which("mpiexec.mpich"):
            self.skipTest("no MPICH here")
        version = (b"MPICH Version:", b"CHILD Version:")
        for job, text in (
            (self.child("version", version), "CHILD Version: [.0-9]+ .libmpich.so.12. has"),
            (self.child("soname", soname="libmpi_c.so.12"), ".libmpi_c.so.12. has"),
        ):
            served, ended = huddle("--stats", "--", *job), huddle(*job, HUDDLE="require")
            self.serves(served)
            self.assertRegex(served.stderr, text + " MPICH's ABI and is served")
            self.assertEqual(1, len(lines(huddle(*job))))
            self.assertEqual([], lines(huddle(*job, HUDDLE_LOG="error")))
            self.assertNotEqual(0, ended.returncode)
            self.assertNotIn("sum", ended.stdout)
            self.assertRegex(ended.stderr, "not tested .*; HUDDLE=require ends the job")

    def test_mpis_with_other_objects_are_left_alone(self):
        if not shutil.which("mpiexec.mpich"):
            self.skipTest("no MPICH here")
        job = self.child("types", (b"\0MPI_DOUBLE\0", b"\0MPI_ELBUOD\0"))
        answer, ended = huddle(*job), huddle(*job, HUDDLE="require")
        self.assertEqual((0, "sum 3\n"), (answer.returncode, answer.stdout), answer.stderr)
        self.assertEqual(1, len(lines(answer)), answer.stderr)
        self.assertIn("differs from MPICH's headers (datatypes)", answer.stderr)
        self.assertNotEqual(0, ended.returncode)
        self.assertNotIn("sum", ended.stdout)
        self.assertIn("HUDDLE=require ends the job", ended.stderr)
