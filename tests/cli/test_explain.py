# SPDX-License-Identifier: BSD-3-Clause
"""
Tests huddle explain on this machine, and its parts.
"""

import json
import os
import tempfile
import unittest
from types import SimpleNamespace
from unittest import mock

from described import explain, facts

from cli.common.layout import CliError
from cli.common.sizes import written
from cli.explain import nodes, sizes


class Here(unittest.TestCase):
    def test_a_single_size_is_explained_in_full(self):
        answer = explain("bcast", "--bytes", "8", "--ranks", "2")
        self.assertEqual((0, ""), (answer.returncode, answer.stderr))
        for words in (
            "8 B bcast, 2 ranks bound to cores in turn, on this machine",
            "serves ",
            "because  built-in table, line",
            "memory ",
            "serves\n",
        ):
            self.assertIn(words, answer.stdout)

    def test_a_range_is_cut_into_pieces(self):
        lines = explain("bcast", "--bytes", "8:1M", "--ranks", "2").stdout.split("\n")[2:]
        ranges = [line.split()[0] for line in lines if line]
        self.assertTrue(ranges[0].startswith("8-"), ranges)
        self.assertTrue(ranges[-1].endswith("-1M"), ranges)

    def test_a_list_is_a_table(self):
        lines = explain("bcast", "--bytes", "8,64K,1M", "--ranks", "2").stdout.split("\n")
        self.assertEqual(["8", "64", "1"], [line.split()[0] for line in lines[2:] if line])
        stepped = explain("bcast", "--bytes", "8:4K:8", "--ranks", "2").stdout.split("\n")
        self.assertEqual(["8", "64", "512", "4"], [line.split()[0] for line in stepped[2:] if line])

    def test_ranges_may_have_no_end(self):
        for ranks in ("2", "2:3"):
            answer = explain("bcast", "--bytes", "8:", "--ranks", ranks)
            with self.subTest(ranks=ranks):
                self.assertEqual((0, ""), (answer.returncode, answer.stderr))
                self.assertRegex(answer.stdout, r"\b8-\d")

    def test_json_of_one_size_is_one_answer(self):
        for words in ((), ("--bytes", "4K")):
            answer = facts("bcast", "--ranks", "2", *words)
            self.assertEqual(4096 if words else 0, answer["bytes"])

    def test_json_of_several_sizes_is_a_list(self):
        for asked, found in (("8,4K", [8, 4096]), ("8:4K:8", [8, 64, 512, 4096])):
            with self.subTest(asked=asked):
                answers = facts("bcast", "--ranks", "2", "--bytes", asked)
                self.assertEqual(found, [answer["bytes"] for answer in answers])
                one = facts("bcast", "--ranks", "2", "--bytes", str(found[-1]))
                self.assertEqual(one, answers[-1])

    def test_json_of_a_range_has_an_answer_for_each_line_of_the_table(self):
        for asked in ("8:1M", "8:"):
            with self.subTest(asked=asked):
                words = ("bcast", "--ranks", "2", "--bytes", asked)
                lines = [line.split() for line in explain(*words).stdout.splitlines()[2:]]
                answers = facts(*words)
                self.assertGreater(len(answers), 1)
                self.assertEqual(
                    [line[0].split("-")[0] for line in lines],
                    [written(answer["bytes"]) for answer in answers],
                )
                for line, answer in zip(lines, answers):
                    self.assertTrue(line[1] == answer["serves"]["algorithm"], line)

    def test_operations_that_do_not_commute(self):
        environment = {"HUDDLE_ALLREDUCE": "tree"}
        self.assertIn(
            "  serves   tree",
            explain("allreduce", "--bytes", "64K", "--ranks", "4", **environment).stdout,
        )
        self.assertIn(
            "  in order the MPI's own, ",
            explain("allreduce", "--bytes", "64K", "--ranks", "4", **environment).stdout,
        )
        self.assertIn(
            "Operations that do not commute",
            explain("allreduce", "--ranks", "4", **environment).stdout,
        )
        self.assertNotIn("not commute", explain("bcast", "--ranks", "4").stdout)
        self.assertIsNone(facts("allreduce", "--ranks", "4", HUDDLE_ALLREDUCE="slices")["ordered"])

    def test_a_setting_and_a_tuning_file_are_named(self):
        self.assertIn(
            "because  setting", explain("barrier", "--ranks", "2", HUDDLE_BARRIER="groups").stdout
        )
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "t.rules")
            with open(path, "w", encoding="utf-8") as file:
                file.write("\nbarrier -> mpi\n")
            answer = explain("barrier", "--ranks", "2", HUDDLE_TUNING=path).stdout
            self.assertIn("serves   the MPI's own", answer)
            self.assertIn(f"because  tuning file, line 2 of {path}", answer)

    def test_candidates_of_trials_are_printed(self):
        for name, last in (("allgather", "the MPI's own"), ("allreduce", r"(?!the MPI)[^,]+")):
            words = (name, "--bytes", "64K", "--ranks", "4")
            text = explain(*words, HUDDLE_TUNING="off").stdout
            self.assertRegex(
                text, rf"(?m)^  or       tried against it \(HUDDLE_WISDOM\): [a-z]+.*, {last}$"
            )
        for settings in ({"HUDDLE_WISDOM": "off"}, {"HUDDLE_ALLREDUCE": "tree"}):
            with self.subTest(settings=settings):
                text = explain(*words, HUDDLE_TUNING="off", **settings).stdout
                self.assertNotIn("tried against", text)

    def test_rules_can_replace_the_built_in_table(self):
        words = ("bcast", "--bytes", "64K", "--ranks", "4")
        with tempfile.NamedTemporaryFile("w", suffix=".rules") as file:
            print("bcast bytes=1K- -> levels\nbcast -> queue", file=file, flush=True)
            answer = explain(*words, HUDDLE_LAB_PRIOR=file.name, HUDDLE_TUNING="off")
            self.assertIn("serves   levels", answer.stdout)
            self.assertIn("because  HUDDLE_LAB_PRIOR, line 1\n", answer.stdout)
        self.assertRegex(
            explain(*words, HUDDLE_LAB_PRIOR=file.name).stderr,
            r"HUDDLE_LAB_PRIOR=.*: there is no such file \(accepted: a file of rules\): huddle",
        )

    def test_collectives_served_as_another_one_are_accepted(self):
        for name, served in (
            ("reduce_scatter_block", "reduce_scatter"),
            ("alltoallw", "alltoallv"),
        ):
            self.assertEqual(served, json.loads(explain(name, "--json").stdout)["collective"])

    def test_bad_options_are_reported_in_one_line(self):
        for words, expected in (
            (("rotate",), "rotate"),
            (("bcast", "--bytes", "1X"), "1X"),
            (("bcast", "--bytes", "9:3"), "9:3"),
            (("bcast", "--bytes", "8,4K,"), "--bytes ''"),
            (("bcast", "--bytes", "9999999999G"), "--bytes 9999999999G: not possible"),
            (("bcast", "--bytes", "foo", "--nodes", "2"), "--bytes foo: not a size"),
            (("bcast", "--bytes", "8:", "--nodes", "2"), "--bytes 8:: has no end"),
            (("bcast", "--bytes", "4G", "--nodes", "2"), "--bytes 4G: not possible"),
            (("barrier", "--bytes", "8", "--nodes", "2"), "--bytes 8: a barrier has none"),
            (("bcast", "--bytes", "8:4M:1", "--ranks", "2"), "8:4M:1: not a range"),
            (("bcast", "--bytes", "8:4M:8", "--ranks", "2:8"), "8:4M:8: of many teams"),
            (("bcast", "--bytes", ""), "--bytes ''"),
            (("barrier", "--bytes", "8"), "--bytes 8"),
            (("alltoallw", "--bytes", "8"), "huddle explain alltoallv, without it"),
            (("bcast", "--ranks", "0"), "--ranks 0"),
            (("bcast", "--ranks", "4:2"), "--ranks 4:2"),
            (("bcast", "--ranks", "2:99999"), "--ranks 2:99999"),
            (("bcast", "--ranks", "2:4", "--bytes", "8,64"), "--bytes 8,64"),
            (("bcast", "--ranks", "2:4", "--bytes", "9:3"), "--bytes 9:3"),
            (("bcast", "--machine", "abacus"), "not known (accepted: this, "),
        ):
            answer = explain(*words)
            with self.subTest(words=words):
                self.assertEqual((2, ""), (answer.returncode, answer.stdout))
                self.assertRegex(answer.stderr, r"^huddle: [^\n]*\n$")
                self.assertIn(expected, answer.stderr)

    def test_a_bad_setting_is_one_line(self):
        for words in ((), ("--ranks", "2"), ("--bytes", "8"), ("--json",), ("--nodes", "2")):
            for more, expected in (
                ({"HUDDLE_BCAST": "nonsense"}, "HUDDLE_BCAST=nonsense is not valid (accepted: "),
                ({"HUDDLE_TUNING": "/nowhere/t.rules"}, "/nowhere/t.rules: there is no such file"),
            ):
                answer = explain("bcast", *words, **more)
                with self.subTest(words=words, expected=expected):
                    self.assertEqual((2, ""), (answer.returncode, answer.stdout))
                    self.assertRegex(answer.stderr, r"^huddle: [^\n]*: huddle handles no calls\n$")
                    self.assertIn(expected, answer.stderr)


class Sizes(unittest.TestCase):
    """Tests of the single parser for all forms of --bytes."""

    def test_forms(self):
        for text, found in (
            (None, (sizes.RANGE, 0, None, [])),
            ("4K", (sizes.ONE, 4096, 4096, [4096])),
            ("8:", (sizes.RANGE, 8, None, [])),
            ("8:1K", (sizes.RANGE, 8, 1024, [])),
            ("1K,8", (sizes.LISTED, 8, 1024, [1024, 8])),
            ("8:1K:8,3", (sizes.LISTED, 3, 512, [8, 64, 512, 3])),
            ("8:32,3", (sizes.LISTED, 3, 32, [8, 16, 32, 3])),
        ):
            self.assertEqual(found, tuple(sizes.sizes_of(text)), text)

    def test_lists_of_sizes_are_expanded(self):
        for text, found in (("8:64", [8, 16, 32, 64]), ("64,8,8", [8, 64]), ("0", [0])):
            self.assertEqual(found, sizes.stepped(text))

    def test_invalid_sizes_are_refused(self):
        for text in (
            "",
            ",",
            ":",
            ":8",
            "8,",
            "8:4",
            "8:4K:1",
            "0:4K:8",
            "8:4K:8:8",
            "-1",
            "9\n:3",
        ):
            with self.subTest(text=text), self.assertRaises(CliError) as refused:
                sizes.sizes_of(text)
            self.assertNotIn("\n", str(refused.exception))

    def test_pieces_are_cut_to_a_range(self):
        for ends, low, high, found in (
            ((8, 64), 0, None, (8, 64)),
            ((8, 64), 16, 32, (16, 32)),
            ((8, None), 16, None, (16, None)),
            ((8, 64), 65, None, None),
            ((8, None), 0, 7, None),
        ):
            piece = dict(zip(("min_bytes", "max_bytes"), ends))
            self.assertEqual(found, sizes.cut(piece, low, high))


class Nodes(unittest.TestCase):
    """Tests of what serves, which the tables of src/alg and src/coll decide, not the CLI."""

    def verdicts(self, spans, **about):
        """
        Returns the verdicts on a collective with a name that huddle does not have; the bytes fill
        the network.
        """
        about = {"rooted": False, "blocks": False, **about}
        row = SimpleNamespace(name="made_up", spans=spans, **about)
        options = SimpleNamespace(ranks=None, nodes=4)
        points = mock.Mock(side_effect=lambda *asked: [{"gains": False, "fills": True}])
        with mock.patch.multiple(
            nodes, network=mock.Mock(known=lambda _: (None, "here"), broadcasts=points)
        ):
            ((_, serves, *_, why),) = nodes.whys(options, None, row, [100])
        return serves, why, points.call_args.args[-1]

    def test_choices_between_nodes_need_an_algorithm_between_nodes(self):
        self.assertEqual("rings", self.verdicts(["nodes", "rings"])[0])
        self.assertEqual("the MPI's own", self.verdicts(["nodes"])[0])
        self.assertEqual("the MPI's own", self.verdicts(["rings"], rooted=True)[0])
        self.assertIn("no algorithm between nodes", self.verdicts([])[1])

    def test_bytes_of_blocks_count_per_rank(self):
        self.assertEqual([100], self.verdicts(["rings"])[2])
        self.assertEqual([400], self.verdicts(["rings"], blocks=True)[2])

    def test_each_collective(self):
        for collective, serves in (
            ("bcast", "nodes"),
            ("allreduce", "rings"),
            ("allgather", "rings"),
            ("reduce", "the MPI's own"),
            ("scan", "the MPI's own"),
        ):
            (row,) = facts(collective, "--nodes", "4", "--bytes", "4M")
            self.assertEqual((4 << 20, serves), (row["bytes"], row["serves"]))
