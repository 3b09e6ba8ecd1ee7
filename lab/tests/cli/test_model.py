# SPDX-License-Identifier: BSD-3-Clause
"""Tests huddle lab model on every described machine, and its errors."""

import glob
import json
import os
import re
import tempfile
import types
import unittest
from unittest import mock

from harness import IN_BUILD, run_huddle, some
from paths import BUILD, SOURCE

MACHINES = sorted(
    os.path.splitext(os.path.basename(path))[0]
    for path in glob.glob(os.path.join(SOURCE, "lab", "machines", "*.toml"))
)
from cli.common import collectives, jobs, machines, stability
from cli.common.layout import CliError, Layout
from lab.cli import described, simulated
from lab.cli.model import compared, fit
from lab.cli.simulate import measure, simulation

LAYOUT = Layout(BUILD, **IN_BUILD)
COLLECTIVES = [row.name for row in collectives.known(LAYOUT) if row.limits]
SIMULATOR = os.path.exists(LAYOUT.program("simulate"))


def model(*words):
    return run_huddle(BUILD, ("lab", "model", *words), timeout=250)


def answer(*words):
    done = model(*words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


class Described(unittest.TestCase):
    def test_every_collective_on_every_machine(self):
        for machine in some(MACHINES, 2):
            for collective in COLLECTIVES if machine == "kunpeng-920" else ("bcast",):
                done = model(collective, "--machine", machine)
                self.assertEqual(
                    (0, ""), (done.returncode, done.stderr), f"{machine}, {collective}"
                )
                self.assertIn("nothing is measured or simulated", done.stdout)

    def test_the_limit_holds_and_grows(self):
        for machine in some(MACHINES, 2):
            rows = answer("bcast", "--machine", machine)["rows"]
            for row in rows:
                self.assertGreaterEqual(row["queue_ns"], row["limit_ns"])
                self.assertGreaterEqual(row["messages_ns"], row["limit_ns"])
            times = [row["queue_ns"] for row in rows]
            self.assertEqual(sorted(times), times)

    @unittest.skipUnless(SIMULATOR, "built without the simulator")
    def test_simulated_times_are_compared(self):
        output = answer("allreduce", "--machine", "xeon-e5620", "--bytes", "8,64K", "--simulate")
        self.assertEqual(2, len(output["simulated"]))
        for ns, limit in zip(output["simulated"], output["limits"]):
            self.assertGreaterEqual(ns, limit["ns"], "nothing is below its limit")

    def test_fragments_and_buffers_fit_the_queue(self):
        output = answer("bcast", "--machine", "kunpeng-920", "--queue", "256K", "--bytes", "16M")
        row = output["rows"][0]
        self.assertLessEqual(row["fragment"] * row["buffers"], 256 << 10)
        self.assertEqual(0, row["fragment"] % 4096)
        self.assertEqual(
            8192,
            answer("bcast", "--machine", "kunpeng-920", "--fragment", "8K")["rows"][0]["fragment"],
        )

    def notified(self, machine):
        """Returns tree -> t_w."""
        return {
            row["tree"]: row["notify_ns"]
            for row in answer("bcast", "--machine", machine, "--bytes", "4K")["trees"]
        }

    def test_trees_by_groups_rank_as_in_the_simulator(self):
        """
        Compares with simulated broadcasts of 8 bytes in all cores' lines, in us, leaders 32 and
        nested 8: 1.21 and 1.05 on the first machine, 5.39 and 2.47 on the second.
        """
        kunpeng, epyc = map(self.notified, ("kunpeng-920", "epyc-7742"))
        self.assertLess(kunpeng["nested 8"], kunpeng["leaders 32"])
        self.assertLess(epyc["nested 8"], epyc["leaders 32"])

    def test_recommended_queues_keep_to_the_options(self):
        for words, buffers in (
            ((), 256),
            (("--queue", "64K"), 16),
            (("--queue", "4K"), 2),
            (("--buffers", "7"), 7),
        ):
            output = answer("bcast", "--machine", "kunpeng-920", "--bytes", "4K", *words)[
                "recommended"
            ]
            self.assertTrue(output.endswith(f" fragment=4096 buffers={buffers}"), output)

    @unittest.skipUnless(SIMULATOR, "built without the simulator")
    def test_the_recommended_queue_is_about_as_fast_as_huddles_choice(self):
        parameters = [
            word
            for expected in answer("bcast", "--machine", "kunpeng-920", "--bytes", "4K")[
                "recommended"
            ].split()
            for word in ("--param", expected)
        ]
        asked = [
            simulation.parse_simulation(
                LAYOUT, "bcast", "--machine", "kunpeng-920", "--bytes", "4K", *words
            )
            for words in (("--algorithm", "queue", *parameters), ())
        ]
        recommended, chosen = (
            call["times"]["time_ns"] for one in asked for call in one.calls().values()
        )
        self.assertLess(recommended, 1.25 * chosen)

    def test_limits_grow_with_the_distance_of_ranks(self):
        near, far = (
            answer("barrier", "--machine", "kunpeng-920", "--ranks", ranks)["limits"][0]["ns"]
            for ranks in ("4", "128")
        )
        self.assertLess(near, far)
        apart = answer("barrier", "--machine", "kunpeng-920", "--ranks", "4", "--map", "socket")[
            "limits"
        ][0]["ns"]
        self.assertEqual(far, apart)


def figure(ns, line_ns=50, min_ns=None):
    return {
        "median_ns": ns,
        "min_ns": min_ns or ns,
        "shots": 9,
        "refused": 0,
        "line_before_ns": 50,
        "line_after_ns": line_ns,
    }


class Descriptors(unittest.TestCase):
    """Tests of the library's descriptors of collectives."""

    def test_descriptors_name_the_ranks_that_an_exit_awaits(self):
        awaits = collectives.awaits(LAYOUT)
        for way, names in (
            (collectives.ROOT, ("bcast", "scatter", "scatterv")),
            (collectives.ALL_AT_ROOT, ("reduce", "gather", "gatherv")),
            (collectives.BEFORE, ("scan", "exscan")),
            (collectives.ALL, ("barrier", "alltoallw", "reduce_scatter_block", "allgatherv")),
        ):
            self.assertEqual({way}, {awaits[name] for name in names}, names)
        names = {name for row in collectives.known(LAYOUT) for name in (row.name, row.also) if name}
        self.assertEqual(names, set(awaits))

    def test_algorithms_between_nodes(self):
        with open(os.path.join(SOURCE, "src", "alg", "spans.def"), encoding="utf-8") as file:
            rows = re.findall(r"^SPAN_ALG\(\w+, \w+, (\w+), (\w+)\)", file.read(), re.MULTILINE)
        spans = {about.name: about.spans for about in collectives.known(LAYOUT)}
        output = [(name, alg) for name, algs in spans.items() for alg in algs]
        self.assertGreater(len(rows), 20)
        self.assertEqual(set(rows), set(output))
        self.assertEqual([], spans["scan"] + spans["exscan"])


class Steady(unittest.TestCase):
    def times(self, *runs):
        """Measures made-up launches, each of size -> ns, or a figure."""
        launches = iter(runs)
        return stability.measured(
            lambda: [
                (size, ns if isinstance(ns, dict) else figure(ns))
                for size, ns in next(launches).items()
            ],
            lambda: None,
        )

    def test_two_runs_that_agree_are_enough(self):
        self.assertEqual(
            ({8: 1050, 64: 2000}, {}), self.times({8: 1000, 64: 2000}, {8: 1100, 64: 2000})
        )

    def test_one_run_is_no_agreement(self):
        self.assertEqual((1000, False), stability.settled([1000]))
        times, doubts = stability.measured(lambda: [(8, figure(1000))], lambda: None, patience_s=-1)
        self.assertEqual(({8: 1000}, {8: [1000]}), (times, doubts))

    def test_outliers_are_ignored(self):
        self.assertEqual(({8: 1050}, {}), self.times({8: 1000}, {8: 9000}, {8: 1100}))

    def test_times_that_disagree_are_returned_with_all_values(self):
        self.assertEqual(
            ({8: 1500}, {8: [1000, 2000, 4000, 8000, 16000]}),
            self.times(*({8: ns} for ns in (1000, 2000, 4000, 8000, 16000))),
        )

    def test_figures_whose_processors_moved_do_not_count(self):
        moved = figure(100, line_ns=300)
        self.assertEqual(({8: 1000}, {}), self.times({8: moved}, {8: 1000}, {8: 1000}))
        self.assertEqual(({}, {8: []}), self.times(*[{8: moved}] * stability.MAX_RUNS))

    def test_times_on_busy_processors_do_not_count(self):
        held_up = figure(40000, min_ns=1000)
        self.assertEqual(({8: 1000}, {}), self.times({8: held_up}, {8: 40000 // 40}, {8: 1000}))
        self.assertEqual(({}, {8: []}), self.times(*[{8: held_up}] * stability.MAX_RUNS))

    def test_the_load_of_other_processes_is_measured(self):
        before = (
            "cpu  1 1 1 1 1 1 1 1 0 0\ncpu0 100 0 100 1000 10 0 0 0 0 0\ncpu1 0 0 0 0 0 0 0 0 0"
            " 0\ncpu2 0 0 0 5 0 0 0 0 0 0\nintr 7\n"
        )
        after = (
            "cpu  1 1 1 1 1 1 1 1 0 0\ncpu0 110 0 100 1080 20 0 0 0 0 0\ncpu1 30 10 10 50 0 0 0 0"
            " 30 0\ncpu2 99 0 0 5 0 0 0 0 0 0\nintr 9\n"
        )
        self.assertAlmostEqual(0.1, stability.busy(before, after, [0]))
        self.assertAlmostEqual(0.5, stability.busy(before, after, [0, 1]))
        self.assertEqual(0, stability.busy(before, before, [0, 1, 2]))

    def test_a_larger_message_is_not_faster(self):
        self.assertEqual(
            [(64, 512)], stability.falls({8: 100, 64: 5000, 512: 2000, 4096: None, 8192: 1900})
        )

    def test_the_time_of_an_empty_call_is_subtracted(self):
        self.assertEqual(
            ({64: 30, 512: 100}, []), measure.reliable({"nothing": 100, 64: 130, 512: 200}, {})
        )

    def test_the_skew_of_a_simulated_start_is_subtracted(self):
        """
        Checks two ranks that enter within 20 ns: the later rank has half of the time after 0.71 of
        them.
        """
        for skew_ns, taken_ns in ((20, 14.142), (0, 0)):
            self.assertAlmostEqual(taken_ns, simulated.entry_ns(skew_ns, 2), 3)

    def test_only_the_described_machine_is_measured(self):
        """
        Checks that a different line transfer counts as another machine, since processors have
        moved.
        """
        there = measure.Measured(
            types.SimpleNamespace(
                names=[], sizes=[], machine={"lines": {"transfer_ns": {"machine": 60}}}
            ),
            {},
        )
        for before_ns, line_ns, holds in (
            (-1, 54, True),
            (54, -1, True),
            (-1, 20, False),
            (50, 80, True),
            (50, 20, False),
            (20, 20, False),
            (300, 300, False),
            (60, 149, False),
        ):
            self.assertEqual(
                holds,
                there.holds({**figure(1000, line_ns), "line_before_ns": before_ns}),
                (before_ns, line_ns),
            )

    def test_unreliable_times_have_no_figure(self):
        """
        Checks that times without a figure have a reason: hardly longer than an empty call,
        different in each run, or less than the time of a smaller size.
        """
        times = {"nothing": 2260, 1: 2270, 8: 9000, 64: 4000, 512: 6000, 4096: 30000}
        holds, why = measure.reliable(times, {512: [6000, 9000], 4096: [30000]})
        self.assertEqual({}, holds)
        self.assertEqual(
            [
                "1 B: 2.27 us, and a call of nothing, which is subtracted, 2.26 us",
                "8 B: more than 64 B",
                "64 B: less than 8 B",
                "512 B: runs differ, 6 to 9 us",
                "4 KB: one figure only, 30 us",
            ],
            why,
        )
        self.assertEqual(
            ({}, ["calls of nothing, whose time is subtracted: 1 to 2 us"]),
            measure.reliable({"nothing": 1000, 8: 9000}, {"nothing": [1000, 2000]}),
        )

    def test_parts_of_the_model_that_disagree_are_named(self):
        runs = [
            {
                "notify_ns": 200,
                "enter_ns": 80,
                "leave_ns": 0,
                "copies": [{"bytes": 4096, "in_ns": ns, "out_ns": 500}],
            }
            for ns in (400, 900, 3000)
        ]
        parts, doubts = fit.joined_parts(runs)
        self.assertEqual(
            (200, 80, 0, [{"bytes": 4096, "in_ns": 650, "out_ns": 500}]), tuple(parts.values())
        )
        self.assertEqual(["a copy in of 4 KB 0.4 to 3 us"], doubts)


@unittest.skipUnless(SIMULATOR, "built without the simulator")
class Beside(unittest.TestCase):
    """
    Tests of the figures of huddle lab simulate --measure, with a description of this machine, and a
    fake measuring program.
    """

    RANKS, START_NS, NOTHING_NS, CALL_NS = 2, 40, 300, 1000

    def setUp(self):
        path = os.path.join(LAYOUT.machines, "xeon-e5620.toml")
        self.line_ns = next(iter(machines.read(path)["lines"]["transfer_ns"].values()))
        for patch in (
            mock.patch.object(described, "measured_file", lambda: path),
            mock.patch.object(jobs, "cores", lambda: self.RANKS),
            mock.patch.object(measure, "bench_team", self.bench_team),
        ):
            patch.start()
            self.addCleanup(patch.stop)

    def bench_team(self, _asked, collectives, sizes, _figure_ms, _environment):
        times = [("nothing", 0, self.NOTHING_NS)] + [
            (name, size, self.CALL_NS)
            for name in collectives.split(",")
            if name != "nothing"
            for size in sizes
        ]
        return {
            "start_ns": self.START_NS,
            "figures": [
                {
                    **figure(ns, self.line_ns),
                    "line_before_ns": self.line_ns,
                    "collective": name,
                    "bytes": size,
                }
                for name, size, ns in times
            ],
        }

    def compared(self, **wanted):
        options = types.SimpleNamespace(
            **{
                "collective": "bcast",
                "machine": machines.THIS,
                "map": "core",
                "simulate": False,
                "measure": False,
                **wanted,
            }
        )
        prediction = types.SimpleNamespace(
            options=options,
            layout=LAYOUT,
            ranks=wanted.get("ranks", self.RANKS),
            sizes=[8, 4096],
            notes=[],
        )
        return compared.times(prediction)

    def simulated(self, measured):
        asked = simulation.parse_simulation(
            LAYOUT, "bcast", "--ranks", str(self.RANKS), "--bytes", "8,4096"
        )
        if measured:
            measure.prepare(asked.options, asked)
        return [call["times"]["time_ns"] for call in asked.calls().values()]

    def test_simulated_times_are_those_of_huddle_simulate(self):
        self.assertEqual({"simulated": self.simulated(False)}, self.compared(simulate=True))

    def test_times_equal_those_of_huddle_simulate_measure(self):
        self.assertNotEqual(self.simulated(False), self.simulated(True))
        self.assertEqual(
            {"simulated": self.simulated(True), "measured": [self.CALL_NS - self.NOTHING_NS] * 2},
            self.compared(simulate=True, measure=True),
        )

    def test_measure_alone_simulates_nothing(self):
        with mock.patch.object(simulation.Simulation, "calls", side_effect=AssertionError):
            self.assertEqual(
                {"measured": [self.CALL_NS - self.NOTHING_NS] * 2}, self.compared(measure=True)
            )

    def test_measurements_with_another_line_transfer_are_rejected(self):
        self.line_ns *= 5
        self.assertEqual({"measured": [None] * 2}, self.compared(measure=True))

    def test_measure_refuses_other_machines_maps_and_too_many_ranks(self):
        for wanted, expected in (
            ({"ranks": 4}, "--measure: 4 ranks on 2 cores"),
            ({"map": "numa"}, "--measure: --map numa"),
            ({"machine": "kunpeng-920"}, "--measure: kunpeng-920 is not this machine"),
        ):
            with self.assertRaisesRegex(CliError, expected):
                self.compared(measure=True, **wanted)


class Here(unittest.TestCase):
    def test_fit_measures_the_four_times(self):
        fitted = model("--fit", "--bytes", "16K,256K", "--json")
        if "too busy" in fitted.stderr:
            self.skipTest(fitted.stderr)
        output = json.loads(fitted.stdout)
        for key in ("byte_ns", "notify_ns", "enter_ns"):
            self.assertGreater(output["model"][key], 0, key)
        self.assertEqual({16384, 262144}, {row["bytes"] for row in output["rows"]})
        for row in output["rows"]:
            self.assertTrue(
                all(row[key] > 0 for key in ("measured_ns", "predicted_ns", "fitted_ns")), row
            )

    def test_this_machine_must_be_described(self):
        done = model("allreduce")
        self.assertEqual((2, 1), (done.returncode, done.stderr.count("\n")), done.stderr)
        self.assertIn("not described yet", done.stderr)


class Words(unittest.TestCase):
    def test_bad_options_are_reported_in_one_line(self):
        for words, expected in (
            (("--machine", "nothing"), "accepted: "),
            (("--machine", "kunpeng-920", "--bytes", "x"), "--bytes"),
            (("--machine", "kunpeng-920", "--ranks", "1"), "--ranks: 1 (accepted: 2 to 128, "),
            (("--machine", "kunpeng-920", "--plot", ""), "huddle: "),
            (
                ("barrier", "--machine", "kunpeng-920", "--plot", "x.png"),
                "--plot: a barrier has one time, no curve (accepted: ",
            ),
            (
                ("--machine", "kunpeng-920", "--measure"),
                "--measure: kunpeng-920 is not this machine",
            ),
            (("reduce", "--fit"), "accepted: "),
            (("--fit", "--ranks", "1"), "--ranks 1"),
        ):
            answered = model(*words)
            self.assertNotEqual(0, answered.returncode)
            self.assertEqual(1, answered.stderr.count("\n"), answered.stderr)
            self.assertIn(expected, answered.stderr)

    def test_impossible_values_are_reported_in_one_line(self):
        for words, expected in (
            (("--ranks", "129"), "--ranks: 129 (accepted: 2 to 128, each on a core of its own)"),
            (("--queue", "0"), "--queue 0: not possible (accepted: 4K to 16M)"),
            (("--fragment", "3"), "--fragment 3: not possible (accepted: 4K to 1M)"),
            (("--fragment", "5000"), "--fragment 5000: not possible (accepted: multiples of 4K)"),
            (
                ("--fragment", "64K", "--queue", "32K"),
                "--fragment 64K: not possible (accepted: 4K to 32K)",
            ),
            (("--sets", "99999"), "--sets 99999: not possible (accepted: 1 to 8)"),
            (
                ("--fragment", "64K", "--buffers", "17"),
                "--buffers 17: not possible (accepted: 1 to 16)",
            ),
            (("--bytes", "0,8"), "--bytes 0: "),
            (("--buffers", "-3"), "--buffers -3: not possible (accepted: "),
            (("--bytes", "9" * 40), "--bytes 999"),
            (("barrier", "--bytes", "8"), "--bytes: a barrier has none"),
            (
                ("barrier", "--queue", "1M"),
                "--queue: barrier has none (accepted: with predicted broadcasts)",
            ),
            (("reduce", "--sets", "3"), "--sets: reduce has none"),
        ):
            answered = model("--machine", "kunpeng-920", *words)
            self.assertEqual(
                (2, "", 1),
                (answered.returncode, answered.stdout, answered.stderr.count("\n")),
                answered,
            )
            self.assertIn(expected, answered.stderr)

    def test_plot_draws_a_picture_or_names_matplotlib(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.png")
            done = model("--machine", "epyc-9654", "--plot", path)
            self.assertTrue(
                os.path.exists(path) if done.returncode == 0 else "matplotlib" in done.stderr
            )
