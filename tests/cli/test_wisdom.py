# SPDX-License-Identifier: BSD-3-Clause
"""Tests huddle wisdom with files that are written by hand."""

import datetime
import json
import os
import tempfile
import unittest
from unittest import mock

from wisdom_files import LINE, MORE, MPI, NAME, OWN, QUEUE, SUMS, Folder, line

from cli.common import wisdom, wisdom_merge, wisdom_replace
from cli.common.layout import CliError
from cli.wisdom import learned


class Lines(unittest.TestCase):
    def test_lines_are_parsed(self):
        found = line(QUEUE)
        self.assertEqual((32769, 65536), wisdom.sizes(found))
        self.assertEqual((33554433, None), wisdom.sizes(line("bcast bytes=33554433- -> queue")))
        self.assertEqual((8, 8), wisdom.sizes(line("bcast bytes=8 -> queue")))
        self.assertIsNone(wisdom.sizes(line("barrier ranks=2 -> central")))
        self.assertEqual(("inline", 11600), wisdom.timed(found.notes["before"]))
        self.assertIsNone(wisdom.timed(""))
        self.assertEqual("queue budget=128K", wisdom.choice_text(found))
        self.assertEqual(0, wisdom.count(line(OWN), "mpi_ns"))

    def test_merging_keeps_the_newer_line_or_many_more_samples(self):
        few, many = (LINE.format("0-8", name, 9, n) for name, n in (("inline", 10), ("queue", 20)))
        old, new = (f"{many} date={date}" for date in ("2026-01-02", "2026-11-30"))
        old_39, old_40 = (old.replace("samples=20", f"samples={n}") for n in (39, 40))
        new_10 = new.replace("samples=20", "samples=10")
        for mine, theirs, stays, counts in (
            (few, many, many, (0, 1, 0, 0)),
            (many, few, many, (0, 0, 1, 0)),
            (old, new, new, (0, 1, 0, 0)),
            (new, old, new, (0, 0, 1, 0)),
            (new, new, new, (0, 0, 0, 1)),
            (old_39, new_10, new_10, (0, 1, 0, 0)),
            (old_40, new_10, old_40, (0, 0, 1, 0)),
            (new_10, old_40, old_40, (0, 1, 0, 0)),
        ):
            with self.subTest(mine=mine, theirs=theirs):
                done = wisdom_merge.merge([line(mine)], [line(theirs)])
                self.assertEqual(line(stays), done.cells[0])
                self.assertEqual(counts, tuple(map(len, done[1:])))
        done = wisdom_merge.merge([line(many)], [line(few), line(OWN)], lambda *_: True)
        self.assertEqual([line(few), line(many), line(OWN)], done.cells)

    def test_winners_in_two_states_of_the_machine_are_merged_together(self):
        one, two, three = (
            line(LINE.format("0-8", name, 9, 10)) for name in ("inline", "queue", "mpi")
        )
        other = one._replace(notes={**one.notes, "ns": "77"})
        for old, new, merged in (
            ([one], [two, three], [two, three]),
            ([one, two], [three], [three, one]),
            ([one, two], [other], [other, two]),
            ([one, two], [other, one], [other, one]),
        ):
            with self.subTest(old=old, new=new):
                done = wisdom_merge.merge(old, new, lambda *_: True)
                self.assertEqual(merged, done.cells)
                self.assertEqual((0, 1, 0, 0), tuple(map(len, done[1:])))
                self.assertEqual(new[:1], wisdom.Wisdom("", {}, done.cells).last)

    def test_the_oldest_lines_of_a_large_file_go(self):
        cells = [
            line(f"bcast ranks={n} bytes=0-8 -> inline | ns=1 date=2026-01-{1 + n % 28:02d}")
            for n in range(5000)
        ]
        text = wisdom.text(wisdom.Wisdom("", {"mpi": MPI}, cells))
        self.assertLessEqual(len(text), wisdom.LARGEST)
        left = {
            wisdom.age(found) for found in map(line, text.split("\n")) if found and found.is_rule
        }
        self.assertNotIn("2026-01-01", left)
        self.assertIn("2026-01-28", left)

    def test_unknown_lines_are_dropped_with_the_oldest(self):
        old = "shift ranks=2 -> new | date=2020-01-01"
        cells = [
            line(f"bcast ranks={n} bytes=0-8 -> inline | ns=1 date=2026-01-01") for n in range(20)
        ]
        with mock.patch.object(wisdom, "LARGEST", 1200):
            text = wisdom.text(wisdom.Wisdom("", {}, cells), others=(old, f"{old[:-10]}2026-02-01"))
        self.assertNotIn("2020", text)
        self.assertIn("\nshift ranks=2 -> new | date=2026-02-01\n", text)
        self.assertLessEqual(len(text), 1200)

    def test_files_of_other_machines(self):
        one = wisdom.Wisdom("", {"processors": "2", "cpu": "a", "mpi": MPI}, [])
        self.assertTrue(wisdom.alike(one, one._replace(machine={**one.machine, "kernel": "6"})))
        for key in ("processors", "cpu", "mpi"):
            other = one._replace(machine={**one.machine, key: "x"})
            self.assertFalse(wisdom.alike(one, other), key)


class Table(unittest.TestCase):
    def test_sizes_with_the_same_choice_share_a_row(self):
        cells = [line(text) for text in (OWN, MORE, QUEUE, SUMS)]
        today = datetime.date(2026, 11, 30)
        found = learned.rows(cells, ["bcast", "allreduce", "alltoall"], learned.algorithm, today)
        self.assertEqual(
            [
                # (geometric means of 1.5 and 1, and of the only case with another choice)
                ["bcast", "2", "32769-128K", "queue", "5.8 to 11.6 us", "1.22", "2.00", "2 days"],
                ["allreduce, exact", "2", "0-8", "inline", "0.21 us", "3.05", "-", "-"],
                ["alltoall", "4 oversubscribed", "513-1K", "mpi", "3 us", "1.00", "-", "today"],
            ],
            found,
        )
        self.assertEqual(4, len(learned.rows(cells, [])), "parameters make more rows")

    def test_a_long_table_has_a_row_for_each_collective_and_shape(self):
        cells = [line(text) for text in (OWN, MORE, QUEUE, SUMS)]
        more = line(LINE.format("128K-256K", "levels", 30000, 9))
        found = learned.short_rows([*cells, more], ["bcast"], datetime.date(2026, 11, 30))
        self.assertEqual(
            [["bcast", "2", "32769-256K", "queue, levels", "5.8 to 30 us"]],
            [row[:5] for row in found if row[0] == "bcast"],
        )
        self.assertEqual(3, len(found))

    def test_a_gap_in_the_sizes_ends_a_row(self):
        cells = [line(LINE.format(sizes, "queue", 9, 9)) for sizes in ("0-8", "17-32", "33-64")]
        self.assertEqual(["0-8", "17-64"], [row[2] for row in learned.rows(cells, [])])

    def test_the_summary(self):
        found = learned.summary([line(text) for text in (QUEUE, MORE, OWN)])
        self.assertEqual(
            "3 cases known; 1 changed: on average 2.0 times as fast as the first choice."
            " In 2 cases huddle is on average 1.2 times as fast as the MPI's own collective."
            " In 1 case the MPI's own is the fastest, and serves.",
            found,
        )
        same = line(QUEUE.replace("before=inline:11600", "before=inline:5800"))
        self.assertIn("1 changed: on average as fast as the first choice.", learned.summary([same]))

    def test_speeds_in_words(self):
        for ratio, text in (
            (12.34, "12.3 times as fast"),
            (1.4, "1.4 times as fast"),
            (1.05, "1.05 times as fast"),
            (1.004, "as fast"),
            (0.996, "as fast"),
            (0.96, "1.04 times as slow"),
            (0.5, "2.0 times as slow"),
        ):
            self.assertEqual(text, learned.speed_text(ratio))


class Command(Folder):
    def wisdom(self, *words):
        answer = self.run_it("wisdom", *words)
        self.assertEqual((0, ""), (answer.returncode, answer.stderr))
        return answer.stdout

    def refused(self, *words):
        answer = self.run_it("wisdom", *words)
        self.assertIn(answer.returncode, (1, 2))
        self.assertEqual("", answer.stdout)
        self.assertRegex(answer.stderr, r"^huddle: [^\n]*\n$")
        return answer.stderr

    def known(self, file=None):
        return [one for one in json.loads(self.wisdom("--json")) if not file or one["file"] == file]

    def test_nothing_is_known(self):
        self.assertIn(f"Nothing was learned yet, in {self.folder}.", self.wisdom())
        os.rmdir(self.folder)
        self.assertIn("Nothing was learned yet", self.wisdom())
        self.assertIn("Nothing was learned with ompi4 yet", self.wisdom("--mpi", "ompi4"))
        self.assertIn("nothing was learned yet", self.refused("export"))
        self.assertIn(
            "nothing was learned with mpich5 yet", self.refused("export", "--mpi", "mpich5")
        )

    def test_the_table_and_its_details(self):
        self.write(QUEUE, MORE, OWN)
        text = self.wisdom()
        self.assertIn(
            f"{MPI}, 2 processors, A CPU\n  3 cases known; 1 changed: on average 2.0 times", text
        )
        self.assertRegex(text, r"bcast +2 +32769-128K +queue +5.8 to 11.6 us +1.22 +2.00 ")
        self.assertLess(text.index("bcast"), text.index("alltoall"), "in the library's order")
        text = self.wisdom("show", "bcast")
        self.assertRegex(text, r"65537-128K +queue budget=256K +11.6 us +1.00 +- ")
        self.assertNotIn("alltoall", text)
        self.assertIn("Nothing was learned of barrier yet", self.wisdom("show", "barrier"))
        for name in ("ompi4", "openmpi-4.1.4", MPI):
            self.assertIn("bcast", self.wisdom("--mpi", name))
        self.assertIn("Nothing was learned with mpich4 yet", self.wisdom("--mpi", "mpich4"))
        self.assertIn(
            f"--mpi lam: not an MPI that huddle knows (accepted: ompi4, mpich5, intel, ..., {MPI})",
            self.refused("--mpi", "lam"),
        )

    def test_unusable_files_are_reported_in_one_line(self):
        other = os.path.join(self.folder, "wisdom-mpich-4.0.2-0123456789abcdef.rules")
        self.write(QUEUE)
        for content, expected in (
            ("garbage\n", f"{other}:1: "),
            ("\0" * 100, other),
            (f"{OWN}\n" * 5000, f"{other}: too large (accepted: at most 256 KB)"),
        ):
            with open(other, "w", encoding="utf-8") as file:
                file.write(content)
            answer = self.run_it("wisdom")
            self.assertEqual(0, answer.returncode)
            self.assertRegex(answer.stderr, r"^huddle: [^\n]*\n$")
            self.assertIn(expected, answer.stderr)
            self.assertIn("bcast", answer.stdout)
        os.unlink(other)
        os.symlink(self.file, other)
        self.assertIn(f"{other}: it is a symbolic link", self.run_it("wisdom").stderr)
        os.unlink(other)
        os.mkfifo(other)
        self.assertIn(f"{other}: not a regular file", self.run_it("wisdom").stderr)
        if os.geteuid() == 0:
            os.unlink(other)
            self.write(QUEUE, path=other)
            os.chown(other, 12345, 12345)
            self.assertIn(f"{other}: it belongs to another user", self.run_it("wisdom").stderr)

    def test_export(self):
        self.write(QUEUE, OWN)
        text = self.wisdom("export")
        self.assertEqual([QUEUE, OWN], text.split("\n")[2:4])
        self.assertTrue(text.startswith("#"))
        out = os.path.join(self.home, "out.rules")
        self.assertIn(f"Written: {out}, 2 cases of {MPI}", self.wisdom("export", out))
        with open(out, encoding="utf-8") as file:
            self.assertEqual(text, file.read())
        with open(out, "w", encoding="utf-8") as file:
            file.write("somebody's\n")
        self.assertIn(f"export {out}: the file exists", self.refused("export", out))
        with open(out, encoding="utf-8") as file:
            self.assertEqual("somebody's\n", file.read())
        self.assertIn("2 cases", self.wisdom("export", out, "--force"))
        self.write(OWN, path=self.file.replace("openmpi-4.1.4", "mpich-4.0.2"), machine="")
        output = self.refused("export")
        self.assertIn(f"2 files are known (accepted: --mpi with one of mpich-4.0.2, {MPI})", output)
        self.assertIn("bcast", self.wisdom("export", "--mpi", "ompi4"))
        self.assertIn("cannot be written", self.refused("export", "/proc/no/x"))

    def test_import_and_merge(self):
        path, machine = self.place()
        one, two = (os.path.join(self.home, name) for name in ("one.rules", "two.rules"))
        better = QUEUE.replace("214", "300").replace("queue budget=128K", "inline")
        self.write(QUEUE, OWN, path=one, machine=machine)
        self.write(better, MORE, path=two, machine=machine)
        self.assertIn(
            f"{one}, for {MPI}: 2 cases added, 0 replaced, 0 kept", self.wisdom("import", one)
        )
        self.assertEqual([path], [found["file"] for found in self.known()])
        text = self.wisdom("merge", two, one)
        self.assertIn(f"{two}, for {MPI}: 1 case added, 1 replaced, 0 kept as known here", text)
        self.assertIn("  replaced: bcast 32769-64K 2 ranks: inline, from 300 samples of", text)
        self.assertIn(
            f"{one}, for {MPI}: 0 cases added, 0 replaced, 1 kept as known here, 1 equal", text
        )
        self.assertIn("  kept: bcast 32769-64K 2 ranks: inline, from 300 samples of", text)
        with open(path, encoding="utf-8") as file:
            lines = file.read().split("\n")
        self.assertEqual([machine.strip(), better, QUEUE, OWN, MORE], lines[1:6])
        self.assertEqual([os.path.basename(path)], os.listdir(self.folder), "no lock stays")
        self.write(QUEUE, OWN, "garbage", path=one, machine=machine)
        answer = self.run_it("wisdom", "import", one)
        output = f"{one}, for {MPI}: 0 cases added, 1 replaced, 0 kept as known here, 1 equal;"
        self.assertIn(f"{output} 1 line not used\n", answer.stdout)
        found = {cell["algorithm"] for cell in self.known()[0]["cases"]}
        self.assertEqual({"queue", "mpi"}, found, "import replaces what has more samples")
        self.assertEqual(["inline"], [cell["algorithm"] for cell in self.known()[0]["before"]])

    def test_files_without_an_mpi_need_its_name(self):
        path, machine = self.place()
        one, none = (os.path.join(self.home, name) for name in ("one.rules", "none.rules"))
        self.write(QUEUE, path=one, machine=machine)
        self.write(OWN, path=none, machine="")
        for action in ("import", "merge"):
            output = self.refused(action, none)
            self.assertIn(f"{none}: it does not name its MPI (accepted: --mpi NAME)", output)
            output = self.refused(action, none, "--mpi", "lam")
            self.assertIn("--mpi lam: its version is not known here (accepted: such as", output)
        self.assertEqual([], os.listdir(self.folder))
        self.wisdom("import", one, "--mpi", "ompi4")
        self.assertEqual([os.path.basename(path)], os.listdir(self.folder))
        self.assertIn("1 case added", self.wisdom("merge", none, "--mpi", MPI))
        self.assertEqual([os.path.basename(path)], os.listdir(self.folder))
        self.assertEqual([MPI], [found["mpi"] for found in self.known()])

    def test_lines_that_are_not_used_stay(self):
        path, machine = self.place()
        new = "bcast ranks=2  bytes=0-8 speed=9 -> inline | ns=5 date=2026-11-01"
        old = f"{MORE} version=9"
        self.write(QUEUE, "no line at all", new, old, OWN, machine=machine, path=path)
        answer = self.run_it("wisdom", "--json")
        self.assertRegex(answer.stderr, r"^huddle: [^\n]*:3: [^\n]*; such lines are not used\n$")
        found = json.loads(answer.stdout)[0]
        self.assertEqual(["bcast", "alltoall"], [cell["name"] for cell in found["cases"]])
        self.assertEqual(3, found["unused_lines"])
        output = "  Not used: 1 case, such as bcast 65537-128K 2 ranks: measured with version 9 of"
        output += " queue, and this huddle has version "
        rest = "  Not used: 2 lines of another version of huddle.\n"
        rest += "  Programs learn these cases again, and huddle tune does.\n"
        for text in (output, rest):
            self.assertIn(text, self.run_it("wisdom").stdout)
        more = os.path.join(self.home, "more.rules")
        self.write(MORE, "garbage", machine=machine, path=more)
        answer = self.run_it("wisdom", "merge", more)
        self.assertIn("1 case added, 0 replaced", answer.stdout)
        self.assertIn(f"huddle: {more}:3: ", answer.stderr)
        with open(path, encoding="utf-8") as file:
            lines = file.read().split("\n")[2:]
        self.assertEqual([QUEUE, OWN, MORE, "no line at all", new, old, ""], lines)
        self.assertNotIn("no line", self.run_it("wisdom", "export").stdout, "a tuning file")
        self.run_it("wisdom", "forget", "bcast", "alltoall")
        with open(path, encoding="utf-8") as file:
            self.assertEqual(["no line at all", new, old, ""], file.read().split("\n")[2:])
        text = self.run_it("wisdom").stdout
        self.assertTrue(text.startswith("Nothing was learned yet"), text)
        self.assertIn(output, text)
        self.assertIn(rest, text)

    def test_files_of_other_machines_have_a_heading(self):
        path, machine = self.place()
        self.write(OWN)
        other = "Learned on other machines; programs on this one do not use it."
        other += "  huddle wisdom import FILE --force takes it over."
        self.assertTrue(self.wisdom().startswith(f"{other}\n\n{MPI}"))
        self.assertIn(f"\n  FILE: {self.file}\n", self.wisdom())
        self.write(QUEUE, path=path, machine=machine)
        text = self.wisdom()
        self.assertLess(text.index("bcast"), text.index(other))
        self.assertLess(text.index(other), text.index("alltoall"))
        found = {one["file"]: one["here"] for one in self.known()}
        self.assertEqual({path: True, self.file: False}, found)
        os.unlink(self.file)
        self.assertNotIn(other, self.wisdom())

    def test_wisdom_of_another_machine_is_refused(self):
        other = os.path.join(self.home, "other.rules")
        self.write(QUEUE, path=other)
        for action in ("import", "merge"):
            output = self.refused(action, other)
            self.assertIn(f"{other}: learned with {MPI}, 2 processors, A CPU; here it is", output)
            self.assertIn("(accepted: --force)", output)
        self.assertIn("1 case added", self.wisdom("import", other, "--force"))
        self.write(path=other)
        self.assertIn("it has no rules", self.refused("import", other))

    def test_forget(self):
        self.write(QUEUE, MORE, OWN)
        self.assertEqual("Forgotten: 2 cases\n", self.wisdom("forget", "bcast"))
        self.assertEqual(["alltoall"], [cell["name"] for cell in self.known()[0]["cases"]])
        self.assertEqual(MPI, self.known()[0]["mpi"], "the line of the machine stays")
        self.assertEqual("Forgotten: 0 cases\n", self.wisdom("forget", "bcast"))
        self.assertEqual("Forgotten: 1 case\n", self.wisdom("forget", "alltoall"))
        self.assertFalse(os.path.exists(self.file))
        self.write("garbage", machine="")
        os.symlink("nowhere", os.path.join(self.folder, NAME.replace("openmpi", "mpich")))
        os.mkfifo(os.path.join(self.folder, NAME.replace("openmpi", "intelmpi")))
        self.assertEqual("Forgotten: 3 files\n", self.wisdom("forget", "--all"))
        self.assertEqual([], os.listdir(self.folder), "also what cannot be read")
        self.write("garbage", machine="")
        other = NAME.replace("openmpi-4.1.4", "mpich-4.0.2")
        os.symlink("nowhere", os.path.join(self.folder, other))
        for name in ("mpich5", "Open MPI 4.1"):
            self.assertEqual("Forgotten: 0 files\n", self.wisdom("forget", "--all", "--mpi", name))
        for name in ("open", ""):
            output = self.refused("forget", "--all", "--mpi", name)
            self.assertIn("intel, ..., mpich-4.0.2, openmpi-4.1.4)", output)
        self.assertEqual("Forgotten: 1 file\n", self.wisdom("forget", "--all", "--mpi", "mpich4"))
        self.assertEqual([NAME], os.listdir(self.folder))
        self.assertEqual("Forgotten: 1 file\n", self.wisdom("forget", "--all", "--mpi", MPI))
        self.assertEqual([], os.listdir(self.folder))
        self.assertIn("accepted: collectives, or --all", self.refused("forget"))
        self.assertIn("accepted: collectives, or --all", self.refused("forget", "bcast", "--all"))
        self.assertIn("huddle has no such collective", self.refused("forget", "rotate"))

    def test_bad_words(self):
        self.assertIn("accepted: show, export, import, merge, forget", self.refused("print"))
        self.assertIn("--all: only with forget", self.refused("--all"))
        self.assertIn("--force: only with export, import, merge", self.refused("--force"))
        self.assertIn("--json: only with show", self.refused("export", "--json"))
        self.assertIn("FILE is missing", self.refused("import"))
        self.assertIn("accepted: one FILE", self.refused("import", "a", "b"))
        self.assertIn("accepted: one FILE", self.refused("export", "a", "b"))
        self.assertIn("/no/file: cannot be read", self.refused("merge", "/no/file"))


class Locks(unittest.TestCase):
    def test_writers_wait_for_each_other(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, NAME)
            with mock.patch.object(wisdom_replace, "WAIT_S", 0.05):
                with wisdom_replace.locked(path) as replace:
                    with self.assertRaisesRegex(CliError, "is being written; try again"):
                        with wisdom_replace.locked(path):
                            self.fail("two write")
                    replace("one\n")
                with wisdom_replace.locked(path):
                    pass  # writes nothing
                with open(f"{path}.new", "w", encoding="utf-8"):
                    os.utime(f"{path}.new", (0, 0))
                with open(f"{path}.new.host.1", "w", encoding="utf-8"):
                    pass  # another file of the killed process
                with wisdom_replace.locked(path) as replace:
                    replace("two\n")
            self.assertEqual([NAME], os.listdir(folder))
            with open(path, encoding="utf-8") as file:
                self.assertEqual("two\n", file.read())

    def test_a_lock_that_was_taken_away_is_not_removed(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, NAME)
            with wisdom_replace.locked(path):
                os.unlink(f"{path}.new")
                with open(f"{path}.new", "w", encoding="utf-8"):
                    pass
            self.assertEqual([f"{NAME}.new"], os.listdir(folder))

    def test_a_late_writer_leaves_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, NAME)
            with open(path, "w", encoding="utf-8") as file:
                file.write("old\n")
            with self.assertRaisesRegex(CliError, "is being written; try again"):
                with wisdom_replace.locked(path) as replace:
                    os.unlink(f"{path}.new")
                    with open(f"{path}.new", "w", encoding="utf-8"):
                        pass
                    replace("late\n")
            self.assertEqual({NAME, f"{NAME}.new"}, set(os.listdir(folder)))
            with open(path, encoding="utf-8") as file:
                self.assertEqual("old\n", file.read())

    def test_the_lock_is_empty_and_the_mode_stays(self):
        sizes = []

        def note(*words, rename=os.replace):
            sizes.append(os.path.getsize(f"{words[1]}.new"))
            rename(*words)

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, NAME)
            left = wisdom_replace.data_path(path)
            for name in (path, left):  # (left by a process that was killed)
                with open(name, "w", encoding="utf-8"):
                    os.chmod(name, 0o600)
            with mock.patch.object(os, "replace", note), wisdom_replace.locked(path) as replace:
                replace("one\n")
            self.assertEqual([0], sizes)
            self.assertEqual([NAME], os.listdir(folder))
            self.assertEqual(0o600, os.stat(path).st_mode & 0o777)
            with open(path, encoding="utf-8") as file:
                self.assertEqual("one\n", file.read())

    def test_a_failed_writer_leaves_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, NAME)
            os.mkdir(path)
            with self.assertRaisesRegex(CliError, "cannot be written"):
                with wisdom_replace.locked(path) as replace:
                    replace("one\n")
            self.assertEqual([NAME], os.listdir(folder))

    def test_a_file_that_cannot_be_read_is_not_replaced(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, NAME)
            os.symlink("nowhere", path)
            with self.assertRaisesRegex(CliError, "it is a symbolic link"):
                wisdom.update(None, wisdom.Wisdom(path, {}, []), lambda old: old)
            self.assertEqual([NAME], os.listdir(folder))
            self.assertTrue(os.path.islink(path))
