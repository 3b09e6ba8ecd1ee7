# SPDX-License-Identifier: BSD-3-Clause
"""
huddle tune: with which MPIs huddle is measured, and which of its options exclude each other.
test_tune_against.py BUILD.
"""

import collections
import json
import os
import sys
import types
import unittest
from unittest import mock

BUILD = os.path.abspath(sys.argv.pop(1))
sys.path.insert(0, os.path.join(BUILD, "libexec", "huddle"))

from huddle_cli.bench import variants  # noqa: E402
from huddle_cli.common import jobs, launching, peers  # noqa: E402
from huddle_cli.common.layout import Trouble  # noqa: E402
from huddle_cli.common.parser import Parser  # noqa: E402
from huddle_cli.tune import against, command, network  # noqa: E402
from huddle_cli.tune.grid import Team  # noqa: E402
from huddle_cli.tune.state import Cell  # noqa: E402

TWO = Team(2, "core", False, "")
FOUND = {
    name: peers.Mpi(name, name, name, f"/{name}/mpirun", {})
    for name in ("ompi3", "ompi4", "mpich4")
}


class Hosts(unittest.TestCase):
    """Open MPI 3 is here too, which huddle has no front end for."""

    def chosen(self, text, *front_ends):
        work = against.Against.__new__(against.Against)
        work.layout = types.SimpleNamespace(
            prefix="/none", front_ends=lambda: dict.fromkeys(front_ends)
        )
        work.pairs = {}
        with (
            mock.patch.object(launching, "check_launcher"),
            mock.patch.object(peers, "find", lambda *_: FOUND),
            mock.patch.object(variants, "program"),
        ):
            some = work.chosen(text)
        return [(v.name, v.mpi.name) for v in some if v.kind == "huddle"], work.pairs

    def test_huddle_is_measured_with_the_first_that_it_has_a_front_end_for(self):
        for text in ("all", "ompi3,ompi4,mpich4"):
            self.assertEqual(
                (
                    [("before", "ompi4"), ("after", "ompi4"), ("after, mpich4", "mpich4")],
                    {"ompi4": "after", "mpich4": "after, mpich4"},
                ),
                self.chosen(text, "openmpi-4.1", "mpich"),
            )
        own, pairs = self.chosen("ompi4-sm", "openmpi-4.1")
        self.assertEqual(([("before", "ompi4"), ("after", "ompi4")], {}), (own, pairs))

    def test_without_a_front_end_it_is_one_line(self):
        for front_ends, accepted in (
            (("openmpi-4.1", "mpich"), "one of ompi4, mpich4, also with others"),
            ((), "one of those that huddle is built for, also with others"),
        ):
            with self.assertRaises(Trouble) as raised:
                self.chosen("ompi3", *front_ends)
            self.assertEqual(
                f"--against ompi3: huddle has no front end for it (accepted: {accepted})",
                str(raised.exception),
            )
            self.assertEqual(2, raised.exception.status)


class Counted(unittest.TestCase):
    """Times are huddle's only where huddle handles the calls."""

    def work(self, handled):
        """handled: collective -> calls that huddle handles of those that are counted."""
        work = against.Against.__new__(against.Against)
        work.layout, work.handled, work.lost, work.launch_s = None, {}, set(), []
        work.figures, work.calm = (collections.defaultdict(list) for _ in range(2))
        work.versions = {}
        work.campaign = types.SimpleNamespace(
            collectives=[types.SimpleNamespace(name=name) for name in handled],
            budget=types.SimpleNamespace(left=lambda _: 100.0),
            notes=[],
            base=None,
        )
        self.counts = {
            name: {"handled": calls, "passed": {} if calls else {"setting": 3}}
            for name, calls in handled.items()
        }
        return work

    def run_program(self, words, env, limit_s):
        self.assertEqual(100.0, limit_s)
        self.environments.append(env)
        if "HUDDLE_STATS" in env:
            with open(env["HUDDLE_STATS"].partition(":")[2], "w", encoding="utf-8") as file:
                json.dump({"collectives": self.counts}, file)
        figures = [
            {"collective": name, "bytes": 8, "median_ns": 9, "min_ns": 9, "shots": 5, "wrong": 0}
            for name in words[words.index("--coll") + 1].split(",")
        ]
        return json.dumps({"program": "Open MPI v4.1.4", "figures": figures})

    def launched(self, work, *kinds):
        """Of launches of these kinds in turn, each twice: whether calls were counted."""
        self.environments = []
        with (
            mock.patch.object(jobs, "run", self.run_program),
            mock.patch.object(variants, "command_of", lambda *words: (words[-1], {})),
        ):
            for name, kind in kinds * 2:
                if (TWO, name) not in work.lost:
                    variant = variants.Variant(name, kind, None, {}, {}, None)
                    work.launch(TWO, variant, [8], "tuning.toml")
        return ["HUDDLE_STATS" in env for env in self.environments]

    def test_a_launch_counts_before_the_first_that_is_measured(self):
        work = self.work({"bcast": 1})
        counted = self.launched(work, ("ompi4", "peer"), ("before", "huddle"), ("after", "huddle"))
        self.assertEqual([False, True, False, True, False, *[False] * 3], counted)
        self.assertEqual([], work.campaign.notes)
        self.assertEqual([9, 9], work.figures[Cell("bcast", TWO, 8), "after"])

    def test_a_collective_that_falls_back_has_no_time(self):
        work = self.work({"bcast": 1, "alltoall": 0})
        self.launched(work, ("ompi4", "peer"), ("after", "huddle"))
        self.assertEqual(
            {("bcast", "ompi4"), ("alltoall", "ompi4"), ("bcast", "after")},
            {(cell.collective, name) for cell, name in work.figures},
        )
        self.assertEqual(
            ["after, 2 ranks: huddle handles no call of alltoall"], work.campaign.notes
        )
        work.variants = [types.SimpleNamespace(name="ompi4", kind="peer")]
        best = [work.best(Cell(name, TWO, 8)) for name in ("bcast", "alltoall")]
        self.assertEqual([(9, "ompi4"), None], best)

    def test_where_huddle_handles_nothing_it_is_not_measured(self):
        work = self.work({"bcast": 0})
        self.assertEqual([True], self.launched(work, ("before", "huddle")))
        self.assertEqual({(TWO, "before")}, work.lost)
        self.assertEqual({}, work.figures)
        self.assertEqual(["before, 2 ranks: huddle handled no call (setting)"], work.campaign.notes)


class Alone(unittest.TestCase):
    """--machine and --network measure something else than choices."""

    def refused(self, *words):
        """What main() says of these options; nothing is measured."""
        parser = Parser(allow_abbrev=False)
        command.add_arguments(parser)
        options = parser.parse_args(words)
        with (
            mock.patch.object(command.describe, "main", lambda *_: "describes"),
            mock.patch.object(command.network, "main", lambda *_: "network"),
        ):
            try:
                return command.main(options, [], None)
            except Trouble as trouble:
                self.assertEqual(2, trouble.status)
                return str(trouble)

    def test_every_other_option_is_refused(self):
        parser = Parser()
        command.add_arguments(parser)
        values = {"--bytes": ["8"], "--minutes": ["1"]}
        for action in parser._actions:
            name = action.option_strings[-1]
            words = [name, *([] if action.nargs == 0 else values.get(name, [""]))]
            for mode, kept in (
                (["--machine"], ("--machine", "--force")),
                (["--network", "mpirun"], ("--network", "--output", "--site", "--force")),
            ):
                if name in ("--help", *kept) or "--machine" in words:
                    continue
                with self.subTest(mode=mode, words=words):
                    said = self.refused(*mode, *words)
                    self.assertIn(f"tune: {name}: not with {mode[0]} (accepted: {mode[0]} ", said)

    def test_what_goes_together(self):
        self.assertEqual("describes", self.refused("--machine", "x.toml", "--force"))
        self.assertEqual("network", self.refused("--network", "x", "--output", "y", "--force"))
        self.assertEqual("network", self.refused("--network", "x", "--site"))

    def test_a_command_is_not_dropped(self):
        self.assertEqual(
            "tune: --network: not with --machine (accepted: --machine FILE, --force)",
            self.refused("--machine", "--network", "mpirun"),
        )

    def test_a_new_option_is_not_forgotten(self):
        usual = command.add_arguments

        def more(parser):
            usual(parser)
            parser.add_argument("--new")

        with mock.patch.object(command, "add_arguments", more):
            self.assertIn("tune: --new: not with --machine", self.refused("--machine", "--new", ""))


class Words(unittest.TestCase):
    def test_of_a_command_that_no_shell_would_read(self):
        self.assertEqual(["mpirun", "-H", "a b"], network.words_of("mpirun -H 'a b'"))
        with self.assertRaisesRegex(
            Trouble, "^--network mpirun 'x: No closing quotation .accepted"
        ):
            network.words_of("mpirun 'x")
        with self.assertRaisesRegex(Trouble, "^--network '': its first word is no launcher"):
            network.program(None, "", [])


if __name__ == "__main__":
    unittest.main()
