# SPDX-License-Identifier: BSD-3-Clause
"""Tests what huddle explain says of known choices, with files that are written by hand."""

import json
import os
import re
import unittest

import described
from wisdom_files import LINE, MACHINE, MPI, NAME, OWN, QUEUE, SUMS, Folder, file_of, line

from cli.explain import learned, served


class Explained(unittest.TestCase):
    def test_a_line_is_printed_with_its_times(self):
        output = "here on 2026-11-28 from 214 samples of this case: queue, budget 128K, 5.8 us;"
        output += " first choice 11.6;"
        self.assertEqual(f"{output} Open MPI's own 8.7", learned.text(MPI, line(QUEUE)))
        output = "here on 2026-11-30 from 9 samples of this case: MPICH's own, 3 us"
        self.assertEqual(output, learned.text("MPICH 4.0.2", line(OWN)))
        output = "here from 99 samples of this case, exact reductions: inline, 0.21 us;"
        output += " the MPI's own 0.64"
        self.assertEqual(output, learned.text("", line(SUMS)))

    def test_a_line_is_about_calls_of_its_conditions(self):
        facts = {"oversubscribed": False, "divided": False, "within": "numa"}
        answer = {"collective": "bcast", "ranks": 2, "facts": facts}
        self.assertTrue(learned.fits(line(QUEUE), answer))
        self.assertTrue(learned.is_about(line(QUEUE), 65536))
        self.assertFalse(learned.is_about(line(QUEUE), 65537))
        self.assertTrue(learned.is_about(line(OWN.replace(" bytes=513-1K", "")), 65537))
        for changed in (
            {"collective": "reduce"},
            {"ranks": 3},
            {"facts": {**facts, "divided": True}},
        ):
            self.assertFalse(learned.fits(line(QUEUE), {**answer, **changed}), changed)
        self.assertFalse(learned.fits(line(QUEUE.replace(" ->", " within=l3 ->")), answer))
        self.assertFalse(learned.fits(line(QUEUE.replace(" ->", " nodes=2 ->")), answer))
        for ranks, is_of in (("2-8", True), ("2-", True), ("3-8", False), ("1", False)):
            of = line(QUEUE.replace("ranks=2", f"ranks={ranks}"))
            self.assertEqual(is_of, learned.fits(of, answer), ranks)

    def test_known_choices_cut_the_pieces(self):
        serves = {"algorithm": "queue", "parameters": {"budget": 0, "tree": "flat"}}
        row = {"name": "queue", "collective": "bcast", "doc": "d", "baseline": False}
        row["parameters"] = [
            {"name": "budget", "min": 0, "default": 0, "words": []},
            {"name": "tree", "min": 0, "default": 0, "words": ["flat", "binary"]},
        ]
        piece = {"min_bytes": 9, "max_bytes": None, "serves": serves, "why": {"by": "table"}}
        piece["others"] = ["queue budget=131072", "mpi"]
        algorithms, known = served.Algorithms([row], "bcast"), learned.Known(file_of(QUEUE, OWN))

        def cut(*texts, unused=""):
            lines = [line(f"bcast bytes={text}") for text in texts]
            found = known._replace(unused=unused)
            return [
                (one["min_bytes"], one["max_bytes"], (one["serves"] or {}).get("parameters"))
                for one in served.split(algorithms, found, lines, [piece])
            ]

        first, budget = serves["parameters"], {"budget": 131072, "tree": "flat"}
        self.assertEqual(
            [(9, 16, first), (17, 32, budget), (33, 64, None), (65, None, first)],
            cut("17-32 -> queue budget=128K tree=flat", "33-64 -> mpi"),
        )
        self.assertEqual([(9, None, budget)], cut("0- -> queue budget=128K", "17-32 -> mpi"))
        whole = [(9, None, first)]
        self.assertEqual(whole, cut("0-8 -> mpi"))
        self.assertEqual(whole, cut("17-32 -> queue budget=1K"), "it is no candidate")
        self.assertEqual(whole, cut("17-32 -> mpi", unused="HUDDLE_WISDOM=off"))


class Command(Folder):
    def explain(self, *words, wisdom="on"):
        words = ("explain", "bcast", "--bytes", "64K", "--ranks", "2", *words)
        answer = self.run_it(*words, HUDDLE_WISDOM=wisdom, HUDDLE_TUNING="off")
        self.assertEqual((0, ""), (answer.returncode, answer.stderr))
        return answer.stdout

    def candidate(self):
        """Returns a choice that may serve the calls of explain(), in the form of a file's line."""
        answer = json.loads(self.explain("--json"))
        if answer["facts"]["divided"] or answer["facts"]["oversubscribed"]:
            self.skipTest("two ranks share a processor here, or no unit")
        pieces = answer["pieces"]
        piece = next(one for one in pieces if (one["max_bytes"] or 1 << 40) >= 65536)
        self.first = piece["serves"]["algorithm"]
        return next(name for name in piece["others"] if name.split()[0] not in (self.first, "mpi"))

    def test_explain_reports_a_known_choice_that_serves(self):
        path, machine = self.place()
        choice = self.candidate()
        known = QUEUE.replace("queue budget=128K", choice)
        self.write(known.replace("214", "215"))  # a line of another machine
        self.write(known, path=path, machine=machine)
        name = choice.split()[0]
        text = self.explain()
        self.assertIn(f"  serves   {name}: ", text)
        output = f"  because  learned here on 2026-11-28 from 214 samples of this case: {name}, "
        self.assertIn(output, text)
        self.assertIn(" 5.8 us; first choice 11.6; Open MPI's own 8.7\n", text)
        self.assertIn(f"  else     {self.first}, built-in table, line ", text)
        self.assertIn(f"  wisdom   {MPI}\n", text)
        self.assertNotRegex(text, r"(?m)^  with .*\b0\b(, |$)")
        answer = json.loads(self.explain("--json"))
        self.assertEqual([(MPI, True)], [(one["mpi"], one["serves"]) for one in answer["learned"]])
        self.assertEqual(name, answer["serves"]["algorithm"])
        self.assertEqual(self.first, answer["first"]["serves"]["algorithm"])
        table = self.explain("--bytes", "16K:256K")
        self.assertRegex(table, rf"(?m)^  32769-64K +{name} .*learned here on 2026-11-28$")
        self.assertRegex(table, rf"(?m)^  65537-256K +{self.first} .*built-in table")
        self.assertRegex(self.explain("--bytes", "64K,1M"), rf"  64 KB  {name} .*learned here on")
        text = self.run_it("explain", "bcast", HUDDLE_WISDOM="on", HUDDLE_TUNING="off").stdout
        self.assertIn("  choices known here precede this table: huddle wisdom show bcast\n", text)

    def test_explain_reports_why_a_known_choice_does_not_serve(self):
        path, machine = self.place()
        known = QUEUE.replace("queue budget=128K", self.candidate())
        for text, setting, why in (
            (known, "off", "HUDDLE_WISDOM=off"),
            (
                QUEUE.replace("queue budget=128K", "inline"),
                "on",
                "not a candidate for such calls here",
            ),
        ):
            self.write(text, path=path, machine=machine)
            output = self.explain(wisdom=setting)
            self.assertIn(f"  serves   {self.first}: ", output)
            self.assertRegex(output, rf"(?m)^  known    here on .*; not used: {why}$")
            self.assertNotIn("  else ", output)
            answer = json.loads(self.explain("--json", wisdom=setting))
            self.assertEqual([False], [one["serves"] for one in answer["learned"]])
            self.assertEqual(self.first, answer["serves"]["algorithm"])
        self.write(known, path=path, machine=machine)
        self.assertNotIn("learned", self.explain("--ranks", "3"))

    def test_explain_names_the_mpi_of_the_wisdom(self):
        path, machine = self.place()
        choice = self.candidate()
        other = path.replace("openmpi-4.1.4", "mpich-4.0.2")
        self.write(QUEUE.replace("queue budget=128K", choice), path=path, machine=machine)
        machine = machine.replace(MPI, "MPICH 4.0.2")
        self.write(QUEUE.replace("queue budget=128K", "mpi"), path=other, machine=machine)
        text = self.explain("--mpi", "mpich4")
        self.assertIn("  serves   the MPI's own\n", text)
        self.assertIn(": MPICH's own, 5.8 us; first choice 11.6\n", text)
        self.assertIn("  wisdom   MPICH 4.0.2\n", text)
        self.assertIn(f"  serves   {choice.split()[0]}: ", self.explain("--mpi", MPI))
        names = {MPI, "MPICH 4.0.2"}
        text = self.explain()
        read = next(name for name in names if f"  wisdom   {name}; others have: " in text)
        (others,) = names - {read}
        self.assertIn(f"; others have: {others} (--mpi)\n", text)
        there = os.path.join(self.home, "there.toml")
        with open(there, "w", encoding="utf-8") as file:
            file.write(described.text("pu:2", 5))
        for words, expected in (
            (("--mpi", "lam"), "--mpi lam: not an MPI that huddle knows (accepted: ompi4, "),
            (("--mpi", "ompi4", "--machine", there), f"not with --machine {there}"),
            (("--mpi", "ompi4", "--nodes", "2"), "--mpi ompi4: not with --nodes"),
        ):
            answer = self.run_it("explain", "bcast", "--bytes", "8", *words, HUDDLE_WISDOM="on")
            self.assertEqual((2, ""), (answer.returncode, answer.stdout))
            self.assertRegex(answer.stderr, rf"^huddle: [^\n]*{re.escape(expected)}[^\n]*\n$")

    def test_an_mpi_without_known_choices_has_the_first_choice(self):
        path, machine = self.place()
        choice = self.candidate()
        text = self.explain("--mpi", "mpich4")
        nothing = "  wisdom   nothing is learned here with mpich4 yet; huddle tune measures now"
        self.assertIn(f"  serves   {self.first}: ", text)
        self.assertIn(f"{nothing}\n", text)
        self.write(QUEUE.replace("queue budget=128K", choice), path=path, machine=machine)
        self.write(OWN)  # a file of another machine
        text = self.explain("--mpi", "mpich4")
        self.assertIn(f"  serves   {self.first}: ", text)
        self.assertIn(f"{nothing}; others have: {MPI} (--mpi)\n", text)
        self.assertIn("           not used: 1 file of other machines (huddle wisdom)\n", text)
        answer = json.loads(self.explain("--mpi", "mpich4", "--json"))
        self.assertEqual([], answer["learned"])
        self.assertEqual(self.first, answer["serves"]["algorithm"])

    def test_choices_tried_against_a_known_one_include_the_first(self):
        path, machine = self.place()
        choice = self.candidate()
        listed = r"(?m)^  or       tried against it \(HUDDLE_WISDOM\): (.*)$"
        before = re.search(listed, self.explain())[1].split(", ")
        self.assertLessEqual(len(before), 6, "5 of huddle, and the MPI's own")
        self.assertEqual("the MPI's own", before[-1])
        self.write(QUEUE.replace("queue budget=128K", choice), path=path, machine=machine)
        text = self.explain()
        after = re.search(listed, text)[1].split(", ")
        self.assertEqual(self.first, after[0].split()[0])
        serves = choice.split()[0]
        self.assertEqual([one for one in before if one.split()[0] != serves], after[1:])
        self.assertNotRegex("".join(before), "[0-9]{4}", "sizes have units")

    def test_explain_reports_refused_wisdom_and_the_remedy(self):
        path, machine = self.place()
        known = QUEUE.replace("queue budget=128K", self.candidate())
        remedy = f"huddle wisdom import {path} --force takes it over; rm {path} begins anew"
        mpich = f"it was measured with MPICH 4.0.2, and this is {NAME[7:20]}"
        for line_of, why in (
            (machine.replace("processors=", "processors=9"), "it was measured on another machine"),
            (machine.replace(MPI, "MPICH 4.0.2"), mpich),
        ):
            self.write(known, path=path, machine=line_of)
            text = self.explain()
            self.assertIn(f"  serves   {self.first}: ", text)
            self.assertRegex(text, "(?m)^  known    .*; not used: programs refuse the file$")
            self.assertIn(f"programs refuse this file: {path}: it is not used: {why}\n", text)
            self.assertIn(f"           {remedy}\n", text)
            answer = json.loads(self.explain("--json"))
            self.assertEqual(self.first, answer["serves"]["algorithm"])
            self.assertEqual(f"{path}: it is not used: {why}", answer["wisdom"]["not_used"])
            shown = self.run_it("wisdom").stdout
            self.assertIn(f"Programs refuse this file: {path}: it is not used: {why}.", shown)
            self.assertIn(f"  {remedy}.\n", shown)
        self.run_it("wisdom", "import", path, "--force")
        self.assertNotIn("not used", self.explain())

    def test_explain_reports_choices_of_another_version_of_an_algorithm(self):
        path, machine = self.place()
        known = QUEUE.replace("queue budget=128K", self.candidate()) + " version=9"
        self.write(known, path=path, machine=machine)
        text = self.explain()
        self.assertIn(f"  serves   {self.first}: ", text)
        why = "not used: measured with version 9 of [a-z_]+, and this huddle has version [0-9]+"
        self.assertRegex(text, f"(?m)^  known    here on 2026-11-28 .*; {why}$")
        again = "1 case of other versions of algorithms: programs learn these again"
        self.assertIn(f"           {again}\n", text)

    def test_explain_names_the_machine_of_a_named_file(self):
        named = os.path.join(self.home, "named.rules")
        line = LINE.format("32769-64K", "queue", 5800, 9).replace(
            " oversubscribed=no divided=no", ""
        )
        words = ("explain", "bcast", "--bytes", "64K", "--ranks", "2")
        here = self.place()[1]
        for machine, output in (
            (MACHINE, ""),
            (here, "here from 9 samples"),
            (here.replace(" numa=", " numa=1"), "on another machine (numa 1"),
            ("", "on a machine that the file does not name from 9 samples"),
        ):
            self.write(line, path=named, machine=machine)
            answer = self.run_it(*words, HUDDLE_WISDOM=named)
            self.assertEqual("", answer.stderr)
            if machine == MACHINE:
                output = r"on another machine \((.*; )?cpu A CPU, here "
            else:
                output = re.escape(output)
            self.assertRegex(answer.stdout, f"(?m)^  (because  learned|known   ) {output}")
            found = json.loads(self.run_it(*words, "--json", HUDDLE_WISDOM=named).stdout)
            self.assertEqual(
                [machine == here], [one["where"] == "here" for one in found["learned"]]
            )
            refused = f"programs use this file, and add nothing to it: {named}: it is not written"
            self.assertEqual(" machine (" in answer.stdout, refused in answer.stdout)

    def test_explain_names_candidates_without_room(self):
        words = ("explain", "bcast", "--bytes", "1M", "--ranks", "4", "--json")
        settings = {"HUDDLE_WISDOM": "on", "HUDDLE_TUNING": "off"}
        much, little = (
            json.loads(
                self.run_it(*words, HUDDLE_LEASE=size, HUDDLE_MEMORY="64M", **settings).stdout
            )
            for size in ("32M", "300K")
        )
        self.assertEqual([], much["no_room"])
        self.assertNotEqual([], little["no_room"])
        text = self.run_it(*words[:-1], HUDDLE_LEASE="300K", **settings).stdout
        self.assertIn(f"so not tried: {little['no_room'][0].split()[0]}", text)
        self.assertNotRegex(text, "[0-9]{4}")
        off = {**settings, "HUDDLE_WISDOM": "off", "HUDDLE_LEASE": "300K"}
        self.assertEqual([], json.loads(self.run_it(*words, **off).stdout)["no_room"])
