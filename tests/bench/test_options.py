# SPDX-License-Identifier: BSD-3-Clause
"""Tests the options of `huddle bench`, including those of IMB and OSU."""

import json
import os
import tempfile
import unittest
import unittest.mock

from cli.bench import arguments, variants
from cli.bench.campaign import Campaign
from cli.common import jobs, peers
from cli.common.command_line import options_from
from cli.common.layout import CliError
from cli.common.validators import BadValue

KNOWN = ["barrier", "bcast"]


def settled(*words, known=KNOWN):
    return arguments.settle(options_from("huddle bench", arguments.PARAMETERS, words), known)


class Sizes(unittest.TestCase):
    def test_sizes_can_be_lists_and_ranges(self):
        for text, sizes in (
            ("8", [8]),
            ("1K,8", [8, 1024]),
            ("8:64", [8, 16, 32, 64]),
            ("8:100", [8, 16, 32, 64]),
            ("1:1000:10", [1, 10, 100, 1000]),
            ("0:4", [0, 2, 4]),
            ("4KiB,2MB", [4096, 2 << 20]),
            ("8:16,1M", [8, 16, 1 << 20]),
        ):
            with self.subTest(text=text):
                self.assertEqual(sizes, arguments.sizes_of(text))

    def test_errors_quote_the_argument(self):
        for text in ("x", "8:", "9:8", "8:16:1", "2G", "-8", "", "1:64:1"):
            with self.subTest(text=text), self.assertRaises(BadValue):
                arguments.sizes_of(text)


class Synonyms(unittest.TestCase):
    def test_imb(self):
        options = settled(
            "IMB-MPI1",
            "Bcast",
            "-off_cache",
            "20,64",
            "-iter",
            "5000,250",
            "-msglog",
            "6:8",
            "-sync",
            "1",
            "-imb_barrier",
            "1",
            "-root_shift",
            "1",
            "-zero_size",
            "0",
        )
        self.assertEqual(
            (["bcast"], [64, 128, 256], 5000, True, True),
            (options.collectives, options.bytes, options.shots, options.cold, options.root_shift),
        )
        self.assertEqual([0, 1, 2], settled("-msglog", "1", "-zero_size", "on").bytes)
        self.assertEqual([2, 4, 8], settled("--ranks", "8", "-npmin", "2").ranks)

    def test_osu(self):
        options = settled(
            "osu_barrier", "osu_bcast", "-m", "8:32", "-i", "100", "-x", "7", "-f", "full"
        )
        self.assertEqual(
            (KNOWN, [8, 16, 32], 100, 7, True),
            (options.collectives, options.bytes, options.shots, options.warmups, options.details),
        )
        self.assertEqual([1, 2, 4], settled("-m", "4").bytes)

    def test_nonblocking(self):
        self.assertEqual("blocking", settled("osu_bcast").way)
        for words in (
            ["osu_ibcast"],
            ["ibcast", "--way", "nonblocking"],
            ["bcast", "--way", "nonblocking"],
        ):
            options = settled(*words)
            self.assertEqual((["bcast"], "nonblocking"), (options.collectives, options.way))
            words = arguments.program_words(options, options.collectives, [8])
            self.assertEqual("nonblocking", words[words.index("--way") + 1])

    def test_defaults(self):
        options = settled()
        self.assertEqual(
            (KNOWN, [2], False, False),
            (options.collectives, options.ranks, options.cold, options.details),
        )

    def test_errors(self):
        for words, expected in (
            (["reduce"], "reduce"),
            (["--ranks", "1"], "--ranks 1"),
            (["--root", "2"], "--root 2"),
            (["--warmups", "-1"], "--warmups"),
            (["bcast", "ibarrier"], "bcast, ibarrier"),
            (["ibarrier", "--way", "blocking"], "--way blocking"),
            (["ibarrier", "--bare"], "--way nonblocking"),
        ):
            with self.subTest(words=words), self.assertRaisesRegex(CliError, expected):
                settled(*words)


class Words(unittest.TestCase):
    def test_options_become_arguments_of_the_measuring_program(self):
        words = arguments.program_words(
            settled("--cold", "--late", "10000", "--root-shift", "--loop", "50", "--shots", "9"),
            KNOWN,
            [8, 64],
        )
        pairs = dict(zip(words[::2], words[1::2]))
        self.assertEqual(
            ("barrier,bcast", "8,64", "shift", "10000", "50", "9", "9"),
            tuple(
                pairs[name]
                for name in ("--coll", "--bytes", "--root", "--late-us", "--loop", "--min", "--max")
            ),
        )
        self.assertEqual("--cold", words[-1])


class Asked(unittest.TestCase):
    def test_one_call_of_each_size_finds_out_what_huddle_handles(self):
        campaign = Campaign(
            settled(
                "bcast",
                "--bytes",
                "8,64",
                "--loop",
                "50",
                "--late",
                "10000",
                "--shots",
                "9",
                "--cold",
                "--root-shift",
            ),
            None,
            [],
        )
        asked = []

        def launch(_variant, _ranks, words, env):
            asked.extend(words)
            with open(env["HUDDLE_STATS"].partition(":")[2], "w", encoding="utf-8") as file:
                file.write('{"collectives": {"bcast": {"handled": 2, "passed": {}}}}')

        campaign.launch = launch
        campaign.check(variants.Variant("huddle", "huddle", None, {}, {}, None), 2)
        self.assertEqual(
            "--coll bcast --bytes 8,64 --root shift --way blocking --min 1 --max 1 --warmups 0"
            " --figure-ms 1000",
            " ".join(asked),
        )


MPI = peers.Mpi("ompi4", "ompi4", "Open MPI 4.1.4", "mpirun", {})
HUDDLE = variants.Variant("huddle", "huddle", MPI, {}, {}, None)


class Launches(Campaign):
    """
    A campaign that launches no program.  refused: each (collective, size) that a team without MPI
    refuses.  unhandled: the collectives of which huddle handles no call.  launched: the words of
    each measured launch.
    """

    def __init__(self, words, refused=(), unhandled=()):
        options = settled(*words, known=["barrier", "bcast", "alltoall"])
        super().__init__(options, None, [HUDDLE])
        self.refused, self.unhandled, self.launched = set(refused), unhandled, []

    def answer(self, words):
        pairs = dict(zip(words[::2], words[1::2]))
        sizes = [int(size) for size in pairs["--bytes"].split(",")]
        calls = [
            (name, size)
            for name in pairs["--coll"].split(",")
            for size in ([0] if name == "barrier" else sizes)
        ]
        figures = [
            {"collective": name, "bytes": size, "refused": int((name, size) in self.refused)}
            for name, size in calls
        ]
        return {"program": "an MPI", "wrong": 0, "figures": figures}

    def launch(self, variant, ranks, words, env=None):
        if not env:
            self.launched.append(" ".join(words[:4]))
            return self.answer(words)
        none = {"handled": 0, "passed": {"setting": 2}}
        some = {"handled": 2, "passed": {"setting": 2}}
        counts = {n: none if n in self.unhandled else some for n in self.options.collectives}
        with open(env["HUDDLE_STATS"].partition(":")[2], "w", encoding="utf-8") as file:
            json.dump({"collectives": counts}, file)
        return None

    def ran(self):
        """Returns (calls of the samples, words of the launch, notes)."""
        with (
            unittest.mock.patch.object(
                variants,
                "asked_of_team",
                lambda _layout, _variant, _ranks, _bind, words: (words, {}),
            ),
            unittest.mock.patch.object(
                jobs, "run", lambda words, _env: json.dumps(self.answer(words))
            ),
        ):
            self.run(unittest.mock.Mock())
        calls = [(sample["collective"], sample["bytes"]) for sample in self.samples]
        return calls, self.launched, self.notes


class Handled(unittest.TestCase):
    """Tests of calls that fall back to the MPI, which are not shown as huddle's."""

    def ran(self, *words, **more):
        return Launches([*words, "--bytes", "8,64", "--launches", "1"], **more).ran()

    def test_a_collective_that_falls_back_is_not_measured(self):
        gone = [("alltoall", 8), ("alltoall", 64)]
        for more in ({"refused": gone}, {"unhandled": ["alltoall"]}):
            with self.subTest(more=more):
                self.assertEqual(
                    (
                        [("bcast", 8), ("bcast", 64)],
                        ["--coll bcast --bytes 8,64"],
                        ["huddle, 2 ranks: handles no call of alltoall"],
                    ),
                    self.ran("bcast", "alltoall", **more),
                )

    def test_sizes_are_those_of_each_collective(self):
        calls, launched, notes = self.ran(
            "barrier", "bcast", "alltoall", refused=[("bcast", 64), ("alltoall", 8)]
        )
        self.assertEqual([("barrier", 0), ("bcast", 8), ("alltoall", 64)], calls)
        self.assertEqual(["--coll barrier,bcast,alltoall --bytes 8,64"], launched)
        self.assertEqual(
            [f"huddle, 2 ranks: handles 1 of 2 sizes of {name}" for name in ("bcast", "alltoall")],
            notes,
        )

    def test_sizes_that_huddle_does_not_handle_are_not_launched(self):
        _, launched, notes = self.ran("barrier", "bcast", refused=[("barrier", 0), ("bcast", 64)])
        self.assertEqual(["--coll bcast --bytes 8"], launched)
        self.assertEqual("huddle, 2 ranks: handles no call of barrier", notes[0])

    def test_no_line_is_printed_if_all_calls_are_handled(self):
        calls, _, notes = self.ran("barrier", "alltoall")
        self.assertEqual(([("barrier", 0), ("alltoall", 8), ("alltoall", 64)], []), (calls, notes))


class Limit(unittest.TestCase):
    def test_the_limit_grows_with_the_number_of_figures(self):
        def limit_s(*words):
            return Launches([*words, "--figure-ms", "1000", "--bytes", "8,64"]).limit_s(HUDDLE)

        a_figure_s = limit_s("bcast") - limit_s("barrier")
        self.assertGreater(a_figure_s, 1)
        self.assertAlmostEqual(limit_s("barrier") + 2 * 2 * a_figure_s, limit_s())


class Peers(unittest.TestCase):
    found = {"ompi4": MPI}

    def test_a_flavour_sets_parameters_of_the_mpi(self):
        variant = variants.peer_of("ompi4-tree", self.found)
        self.assertEqual(
            ("6", ["barrier", "reduce"]),
            (variant.parameters["coll_tuned_barrier_algorithm"], variant.only),
        )
        self.assertEqual({}, variants.peer_of("ompi4", self.found).parameters)

    def test_a_missing_mpi_is_reported_and_an_unknown_mpi_is_refused(self):
        self.assertIn("mpich5: not found", variants.peer_of("mpich5", self.found))
        for name in ("ompi4-nothing", "mpich4-sm", "elan"):
            with self.subTest(name=name), self.assertRaisesRegex(CliError, name):
                variants.peer_of(name, self.found)

    def test_mpis_are_searched_in_the_documented_order(self):
        """
        Checks the order in docs/benchmarking.md: --place before PATH, PATH before the folder of
        wheels.
        """
        rows = [
            {"mpi": "MPICH 5.0.2", "command": "/path/bin/mpiexec"},
            {"mpi": "Open MPI 4.1.4", "command": "/usr/bin/mpirun"},
        ]
        named = peers.Mpi("ompi4", "ompi4", "Open MPI 4.1.4", "/named/mpirun", {})
        with tempfile.TemporaryDirectory() as folder:
            for wheel in ("mpich", "impi-rt"):
                os.mkdir(os.path.join(folder, wheel))
                open(os.path.join(folder, wheel, "ready"), "w").close()
            with unittest.mock.patch.object(peers.mpis, "on_path", lambda _layout: rows):
                found = peers.find(None, [named], folder)
            self.assertEqual(
                {
                    "ompi4": "/named/mpirun",
                    "mpich5": "/path/bin/mpiexec",
                    "intel": os.path.join(folder, "impi-rt", "bin", "mpiexec.hydra"),
                },
                {name: mpi.launcher for name, mpi in found.items()},
            )

    def test_algorithms_side_by_side(self):
        class Layout:
            @staticmethod
            def ask(*_words):
                return [
                    {"collective": collective, "name": name}
                    for collective, name in (
                        ("barrier", "groups"),
                        ("bcast", "inline"),
                        ("bcast", "queue"),
                    )
                ]

        self.assertEqual([("", {}, None)], variants.forced(settled(), Layout))
        self.assertEqual(
            [
                ("", {}, None),
                (" inline", {"HUDDLE_BCAST": "inline"}, ["bcast"]),
                (" queue", {"HUDDLE_BCAST": "queue"}, ["bcast"]),
            ],
            variants.forced(settled("bcast", "--algorithm", "all"), Layout),
        )
        self.assertEqual(
            [(" groups", {"HUDDLE_BARRIER": "groups"}, ["barrier"])],
            variants.forced(settled("--algorithm", "groups"), Layout),
        )
        with self.assertRaisesRegex(CliError, "groups"):
            variants.forced(settled("bcast", "--algorithm", "groups"), Layout)

    def test_mpis_are_named_by_their_version(self):
        for version, name in (
            ("Open MPI 4.1.4", "ompi4"),
            ("Open MPI 5.0.7", "ompi5"),
            ("MPICH 4.0.2", "mpich4"),
            ("Intel MPI 2021.19", "intel"),
            ("PRRTE 3", None),
        ):
            self.assertEqual(name, peers.kind_of(version))
