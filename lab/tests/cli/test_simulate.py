# SPDX-License-Identifier: BSD-3-Clause
"""Tests the requests and the output of huddle lab simulate."""

import collections
import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import tempfile
import types
import unittest

from harness import run_huddle, some
from paths import BUILD, SOURCE

from cli.common import options, pictures
from lab.cli.simulate import chart, simulation, tables
from lab.cli.simulate import command as simulate_command

MACHINES = os.path.join(SOURCE, "lab", "machines")


def huddle(*words, **environment):
    return run_huddle(BUILD, words, timeout=120, **environment)


def simulate(*words, **environment):
    return huddle("lab", "simulate", *words, **environment)


def answer(*words, **environment):
    done = simulate(*words, "--json", **environment)
    assert (done.returncode, done.stderr) == (0, ""), done
    return json.loads(done.stdout)["calls"]


class Asked(unittest.TestCase):
    def test_huddle_chooses_as_explain_predicts(self):
        words = ("bcast", "--machine", "epyc-7742", "--ranks", "16", "--bytes", "64K")
        (call,), done = answer(*words), huddle("explain", *words, "--json")
        serves = json.loads(done.stdout)["serves"]
        self.assertEqual(
            (serves["algorithm"], serves["parameters"], serves["slot_bytes"]),
            (call["algorithm"], call["parameters"], call["slot_bytes"]),
        )

    def test_described_machines_use_no_fact_of_this_machine(self):
        for name, algorithm in (("kunpeng-920", "cma_write"), ("opteron-8347he", "windows")):
            words = ("gather", "--machine", name, "--ranks", "16", "--bytes", "64K")
            with self.subTest(machine=name):
                (call,) = answer(*words)
                self.assertEqual(algorithm, call["algorithm"])

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "one processor")
    def test_this_machine_uses_its_own_facts_as_in_explain(self):
        """
        Checks that this machine's tuning file, processors and kernel count, whatever the
        description has.
        """
        with tempfile.TemporaryDirectory() as home:
            os.mkdir(os.path.join(home, "huddle"))
            there = os.path.join(home, "huddle", "machine.toml")
            shutil.copy(os.path.join(MACHINES, "kunpeng-920.toml"), there)

            def both(*words):
                words = (*words, "--ranks", "2", "--json")
                return [
                    json.loads(run_huddle(BUILD, (*name, *words), timeout=120, home=home).stdout)
                    for name in (("explain",), ("lab", "simulate"))
                ]

            for collective in ("reduce_scatter", "alltoall"):
                here, simulated = both(collective, "--bytes", "256K")
                (call,) = simulated["calls"]
                self.assertEqual(
                    (here["serves"]["algorithm"], here["serves"]["parameters"]),
                    (call["algorithm"], call["parameters"]),
                )
            with open(os.path.join(home, "huddle", "tuning.rules"), "w", encoding="utf-8") as file:
                file.write("bcast -> slots\n")
            here, simulated = both("bcast", "--bytes", "64K")
            self.assertEqual("slots", here["serves"]["algorithm"])
            self.assertEqual("slots", simulated["calls"][0]["algorithm"])

    def test_an_algorithm_its_parameter_and_a_setting(self):
        (call,) = answer(
            "bcast",
            "--machine",
            "kunpeng-920",
            "--bytes",
            "100000",
            "--algorithm",
            "slots",
            "--param",
            "fragment=4K",
            "--set",
            "HUDDLE_LAB_LEVELS_OFF=group,socket",
            "--map",
            "numa",
        )
        self.assertEqual(
            ("slots", 4096, "numa", 128),
            (call["algorithm"], call["parameters"]["fragment"], call["map"], call["ranks"]),
        )
        self.assertEqual(["numa", "team"], [group["level"] for group in call["groups"]])

    def test_the_default_warmup_is_long_enough(self):
        """
        Checks few ranks, whose lines of a ring are all new at first.  Half of a ring is not enough.
        """
        for ranks in ("2", "3", "4"):
            few, many = (
                answer(
                    "bcast", "--machine", "kunpeng-920", "--ranks", ranks, "--bytes", "64", *more
                )[0]
                for more in ((), ("--warmup", "200", "--repetitions", "200"))
            )
            self.assertAlmostEqual(many["times"]["time_ns"], few["times"]["time_ns"])
            self.assertEqual(
                (many["times"]["min_ns"], many["times"]["max_ns"]),
                (few["times"]["min_ns"], few["times"]["max_ns"]),
            )

    def test_repetitions_and_warmup_count_calls(self):
        (call,) = answer(
            "bcast",
            "--machine",
            "kunpeng-920",
            "--ranks",
            "2",
            "--bytes",
            "64",
            "--warmup",
            "0",
            "--repetitions",
            "3",
        )
        self.assertEqual((0, 3), (call["warmup"], call["repetitions"]))

    def test_all_algorithms(self):
        calls = answer("barrier", "--machine", "xeon-e5620", "--algorithm", "all")
        self.assertIn("dissemination", [call["algorithm"] for call in calls])
        self.assertTrue(all(call["checker"]["clean"] for call in calls))

    def test_a_timeline(self):
        done = simulate("barrier", "--machine", "kunpeng-920", "--timeline")
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        for words in (
            "simulated time ",
            "Simulated timeline of the last call",
            ", one rank of 2\n",
            "Simulated waits",
            "Simulated critical path",
        ):
            self.assertIn(words, done.stdout)

    def test_machines_can_be_given_as_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "mine.toml")
            with (
                open(os.path.join(MACHINES, "xeon-e5620.toml"), encoding="utf-8") as old,
                open(path, "w", encoding="utf-8") as new,
            ):
                new.write(old.read().replace("2 x Intel Xeon E5620", "mine"))
            self.assertIn("on mine", simulate("barrier", "--machine", path).stdout)
            with open(path, "a", encoding="utf-8") as new:
                new.write("depth = 3\n")
            self.assertEqual(
                f"huddle: --machine {path}: reduce.depth: not known (accepted: core_gbps)\n",
                simulate("barrier", "--machine", path).stderr,
            )

    def test_thousands_of_ranks(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "large.toml")
            with (
                open(os.path.join(MACHINES, "kunpeng-920.toml"), encoding="utf-8") as old,
                open(path, "w", encoding="utf-8") as new,
            ):
                new.write(old.read().replace("pack:2 ", "pack:64 "))
            call = json.loads(
                simulate(
                    "barrier", "--machine", path, "--repetitions", "1", "--warmup", "1", "--json"
                ).stdout
            )["calls"][0]
        self.assertEqual((4096, True), (call["ranks"], call["checker"]["clean"]))

    def test_a_machine_that_was_not_measured_is_measured_by_tune(self):
        self.assertIn("huddle lab machine", simulate("barrier").stderr)

    def test_doubts_of_a_description_are_printed(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "mine.toml")
            with (
                open(os.path.join(MACHINES, "xeon-e5620.toml"), encoding="utf-8") as old,
                open(path, "w", encoding="utf-8") as new,
            ):
                new.write('doubt = "kernel_gbps 1 to 16"\n' + old.read())
            for printed in (
                simulate("barrier", "--machine", path),
                simulate("barrier", "--machine", path, "--algorithm", "gather,central"),
                huddle("lab", "model", "barrier", "--machine", path),
            ):
                self.assertIn(
                    "by a description that is not reliable: kernel_gbps 1 to 16",
                    printed.stdout.lstrip().split("\n")[0],
                    printed,
                )
            self.assertEqual(
                "kernel_gbps 1 to 16",
                json.loads(simulate("barrier", "--machine", path, "--json").stdout)["machine"][
                    "doubt"
                ],
            )

    def test_complaints(self):
        there = ("--machine", "xeon-e5620")
        for words, complaint in (
            (
                ("rotate", *there),
                "simulate rotate: huddle has no such collective (accepted: allgather, allgatherv, ",
            ),
            (("bcast",), "--machine this: not described yet: there is no /"),
            (("bcast", "--machine", "cray"), "--machine cray: not known (accepted: this, "),
            (("bcast", "--machine", "/none/x.toml"), "--machine /none/x.toml: no such file"),
            (
                ("bcast", *there, "--ranks", "9"),
                "--ranks 9: needs one core per rank (accepted: 2 to 8)",
            ),
            (
                ("bcast", *there, "--algorithm", "x"),
                "--algorithm x: bcast has no such algorithm (accepted: ",
            ),
            (("bcast", *there, "--param", "f=1"), "--param: needs an algorithm"),
            (
                ("bcast", *there, "--algorithm", "slots", "--param", "f=1"),
                "--param f: bcast/slots has no such parameter (accepted: fragment, ",
            ),
            (
                ("bcast", *there, "--algorithm", "slots", "--param", "fragment"),
                "--param fragment: not valid (accepted: NAME=VALUE",
            ),
            (
                ("bcast", *there, "--algorithm", "slots", "--param", "fragment=0"),
                "--param fragment=0 is out of range (accepted: ",
            ),
            (
                ("bcast", *there, "--algorithm", "queue", "--param", "fragment=-1"),
                "--param fragment=-1 is out of range (accepted: ",
            ),
            (
                ("bcast", *there, "--algorithm", "all,tree"),
                (
                    "--algorithm all,tree: bcast has no such algorithm, which must be alone"
                    " (accepted: "
                ),
            ),
            (
                ("bcast", *there, "--algorithm", ","),
                "--algorithm ,: bcast has no such algorithm, '' (accepted: ",
            ),
            (
                ("bcast", *there, "--set", "HUDDLE_MEMORY"),
                "--set HUDDLE_MEMORY: the value is missing (accepted: HUDDLE_MEMORY=VALUE; ",
            ),
            (("barrier", *there, "--bytes", "8"), "--bytes: a barrier has none"),
            (
                ("barrier", *there, "--root", "0"),
                "--root: barrier has none (accepted: with bcast and reduce and gather and ",
            ),
            (
                ("bcast", *there, "--method", "loop", "--skew", "100"),
                "--skew: back-to-back calls have no common start",
            ),
            (("bcast", *there, "--measure", "--json"), "--measure: JSON "),
            (
                ("bcast", *there, "--measure", "--skew", "9"),
                (
                    "--skew: the clock determines when measured ranks enter a call"
                    " (accepted: without --measure)"
                ),
            ),
            (("bcast", *there, "--timeline"), "--timeline: needs a single call"),
            (
                ("bcast", *there, "--measure"),
                (
                    "--measure: xeon-e5620 is not this machine (accepted: without --machine; this"
                    " machine is then described by /"
                ),
            ),
            (("bcast", *there, "--root", "8", "--bytes", "8"), "--root: 8 (accepted: 0 to 7)"),
            (
                ("allreduce", *there, "--algorithm", "inline", "--bytes", "1M"),
                "allreduce: none of these calls is handled by inline there",
            ),
            (
                ("bcast", *there, "--set", "X=1"),
                "--set X=1: not a setting of huddle (accepted: NAME=VALUE",
            ),
            (("bcast", *there, "--repetitions", "0"), "--repetitions: 0 (accepted: 1 to 1000000)"),
            (
                ("bcast", *there, "--bytes", "8:1536M:2"),
                "--bytes: 1073741824 on 8 ranks are more than 8 GB of buffers",
            ),
            (("bcast", *there, "--bytes", "0"), "--bytes: 0 (accepted: 1 to 1073741824)"),
            (
                ("bcast", *there, "--png", "/none/x.png"),
                "--png /none/x.png: cannot be written: there is no such directory: /none",
            ),
        ):
            done = simulate(*words)
            self.assertNotEqual(0, done.returncode, words)
            self.assertTrue(
                done.stderr.startswith(f"huddle: {complaint}") and done.stderr.count("\n") == 1,
                done.stderr,
            )

    def test_invalid_descriptions(self):
        with open(os.path.join(MACHINES, "xeon-e5620.toml"), encoding="utf-8") as file:
            good = file.read()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.toml")

            commands = collections.deque((("lab", "simulate"), ("lab", "model")))

            def changed(key, value):
                return re.sub(
                    rf"(?m)^{key} = .*", lambda _: f"{key} = {value}", good, count=1
                ).encode()

            for content, complaint in (
                (b"\xff\xfe", "byte 0 is not valid UTF-8"),
                (b"x=" + b"[" * 200000, "nested too deeply"),
                (b" " * (1 << 20) + b" ", "longer than any description"),
                (b"name = ", "Invalid value"),
                (
                    changed("hit_ns", "nan"),
                    "lines.hit_ns: \"nan\" (accepted: 0.001 to 1000000000 ns)",
                ),
                (changed("hit_ns", "1" * 30), "lines.hit_ns: \"1111"),
                (
                    changed("size_bytes", "0.5"),
                    "lines.size_bytes: 0.5 (accepted: a power of two, 32 to 256 bytes)",
                ),
                (changed("size_bytes", "63"), "lines.size_bytes: 63 "),
                (changed("size_bytes", "1e6"), "lines.size_bytes: 1"),
                (
                    changed("memory_gbps.local", "1e-300"),
                    "copy.memory_gbps.local: 1e-300 (accepted: 0.001 to 1000000 GB/s)",
                ),
                (changed("transfer_ns.numa", "1e18"), "lines.transfer_ns.numa: 1"),
                (
                    changed("private_bytes", "1"),
                    "caches.private_bytes: 1 (accepted: a whole number, 4096 to ",
                ),
                (changed("node_gbps", "-1"), "memory.node_gbps: -1 (accepted: "),
                (changed("hit_ns", "1979-05-27"), "lines.hit_ns: '1979-05-27' "),
                (changed("hit_ns", "true"), "lines.hit_ns: true (accepted: "),
                (changed("hit_ns", "{a.b = 1}"), "lines.hit_ns.a: a table in "),
                (b"[[bcast]]\nalgorithm = 'queue'\n", "bcast: several tables"),
                (changed("name", r'"a\u0000b"'), "name: "),
                (
                    changed("topology", '"pack:99999 core:99999 pu:1"'),
                    'topology: "pack:99999 core:99999 pu:1" is not understood (accepted: ',
                ),
                (changed("topology", '"pipe.xml"'), f"topology: {folder}/pipe.xml: no such file"),
                (None, "not a regular file"),
            ):
                os.mkfifo(path if content is None else os.path.join(folder, "pipe.xml"))
                if content is not None:
                    with open(path, "wb") as file:
                        file.write(content)
                commands.rotate()
                for command in some(commands):
                    with self.subTest(complaint, command=command):
                        done = subprocess.run(
                            [os.path.join(BUILD, "bin", "huddle"), *command, "--machine", path],
                            stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE,
                            text=True,
                            timeout=60,
                            check=False,
                        )
                        self.assertEqual((2, ""), (done.returncode, done.stdout))
                        self.assertTrue(
                            done.stderr.startswith(f"huddle: --machine {path}: {complaint}")
                            and done.stderr.count("\n") == 1,
                            done.stderr,
                        )
                for name in os.listdir(folder):
                    os.unlink(os.path.join(folder, name))

    def test_invalid_numbers_are_refused(self):
        options = (
            ("--skew", "nan"),
            ("--skew", "inf"),
            ("--seed", "99999999999999999999"),
            ("--ranks", "2.5"),
            ("--root", "-1"),
            ("--warmup", "x"),
            ("--ranks", "0"),
            ("--ranks", "1"),
            ("--bytes", "-1"),
            ("--bytes", "1T"),
            ("--bytes", "1.5K"),
            ("--bytes", "8,,9"),
            ("--bytes", "9:3"),
            ("--bytes", "4G"),
        )
        for option, text in some(options):
            done = simulate("bcast", "--machine", "xeon-e5620", option, text)
            self.assertEqual((2, 1), (done.returncode, done.stderr.count("\n")), done.stderr)
            self.assertRegex(
                done.stderr,
                rf"huddle: {option} {re.escape(text) if text != '8,,9' else repr('')}:"
                r" (not possible|not a size|not a range) \(accepted: ",
            )

    def test_every_default_size_can_be_simulated(self):
        """Checks blocks between all pairs of the largest machine."""
        for size in options.sizes_of(simulation.PAIR_SIZES):
            self.assertLess(2 * size * 192 * 192, 8e9)


def span(rank, begin, end, what, **more):
    return {
        "rank": rank,
        "begin_ns": begin,
        "end_ns": end,
        "what": what,
        **{"call": "does", "at": "src/alg/x.c:1", **more},
    }


CALL = {
    "collective": "bcast",
    "algorithm": "x",
    "parameters": {"fragment": 4096},
    "bytes": 8192,
    "ranks": 2,
    "method": "single",
    "repetitions": 3,
    "checker": {"posts": 4, "hops": 2, "events": 20},
    "times": {"time_ns": 1500, "min_ns": 1400, "max_ns": 2000},
    "links": [
        {"name": "socket 0 to 1", "bytes": 8192, "busy": 0.25},
        {"name": "idle", "bytes": 0, "busy": 0},
    ],
    "spans": [
        span(0, 0, 500, "copy"),
        span(0, 500, 1000, "line"),
        span(1, 0, 750, "wait", **{"for": 0}),
        span(1, 750, 1000, "copy"),
    ],
    "path": [span(0, 0, 700, "copy"), span(1, 700, 1000, "copy")],
}
SIMULATION = types.SimpleNamespace(
    collective="bcast",
    names=["x"],
    sizes=[8192],
    words=lambda: "2 ranks, on paper",
    options=types.SimpleNamespace(method="single"),
)


class Begun(unittest.TestCase):
    def test_skew_is_subtracted_and_calls_are_drawn(self):
        asked = simulation.Simulation.__new__(simulation.Simulation)
        asked.options = types.SimpleNamespace(
            repetitions=None,
            warmup=None,
            map="core",
            root=None,
            method="single",
            skew=20,
            seed=1,
            machine="this",
        )
        (
            asked.collective,
            asked.ranks,
            asked.machine,
            asked.settings,
            asked.traced,
            asked.start_ns,
            asked.small_calls,
            asked.alternate,
            requests,
        ) = ("bcast", 2, {}, {}, False, 14, 256, None, [])
        asked.resolve = lambda name, size: {
            "algorithm": "inline",
            "parameters": {},
            "slot_bytes": 4096,
        }

        def run(request):
            requests.append(request)
            return {
                "call": {
                    "checker": {"clean": True},
                    "times": {"time_ns": 114, "min_ns": 100, "max_ns": 120},
                }
            }

        asked.run_program = run
        self.assertEqual(
            {"time_ns": 100, "min_ns": 86, "max_ns": 106}, asked.call("inline", 8)["times"]
        )
        asked.call("inline", 65536)
        self.assertEqual(
            [(256, 20), (5, 20)],
            [(request["repetitions"], request["skew_ns"]) for request in requests],
        )


class Shown(unittest.TestCase):
    def text(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            tables.show_call(SIMULATION, CALL, True)
        return out.getvalue()

    def test_times(self):
        self.assertEqual(
            ["812 ns", "1 us", "12.3 us", "1.5 ms", "1.2 s", "3000 s", "1 s"],
            [tables.time_text(ns) for ns in (812, 1000, 12345, 1.5e6, 1.2e9, 3e12, 999.9e6)],
        )

    def test_every_figure_is_called_simulated(self):
        for words in (
            "simulated 8 KB bcast, 2 ranks, on paper",
            "simulated time 1.5 us, 1.4 us to 2 us",
            "Simulated traffic",
            "Simulated timeline",
            "Simulated waits",
            "Simulated critical path",
        ):
            self.assertIn(words, self.text())

    def test_the_critical_path_is_grouped_by_rank(self):
        path = [
            span(0, 0, 10, "line"),
            span(0, 10, 40, "copy", call="copies"),
            span(0, 40, 50, "line"),
            span(1, 50, 60, "line"),
        ]
        self.assertEqual([3, 1], [len(stay) for stay in tables.stays(path)])
        self.assertEqual(
            "copies 30 ns at src/alg/x.c:1, does 20 ns at src/alg/x.c:1", tables.doings(path[:3])
        )

    def test_only_the_busiest_links_are_shown(self):
        links = [{"name": f"link {i}", "bytes": 64, "busy": i / 100} for i in range(40)]
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            tables.show_links(links, "the last call")
        self.assertIn("the busiest of 40", out.getvalue())
        self.assertIn("link 39", out.getvalue())
        self.assertNotIn("link 3 ", out.getvalue())

    def test_links_that_carried_nothing_are_left_out(self):
        self.assertRegex(self.text(), r"socket 0 to 1 +8 KB +25.0 %")
        self.assertNotIn("idle", self.text())

    def test_tables_mention_the_simulation_once(self):
        asked = types.SimpleNamespace(
            **{**vars(SIMULATION), "names": ["x", None], "sizes": [8, 8192]}
        )
        with contextlib.redirect_stdout(io.StringIO()) as out:
            simulate_command.show_table(
                asked, {(name, size): CALL for name in asked.names for size in asked.sizes}
            )
        self.assertEqual(1, out.getvalue().lower().count("simulated"))
        self.assertRegex(out.getvalue(), r"bytes +x +choice\n")

    def test_blank_cells_are_explained(self):
        self.assertIn("blank: ", self.text())

    def test_timelines_show_the_longest_activity(self):
        self.assertEqual(
            "..##",
            tables.timeline_row([span(1, 0, 499, "wait"), span(1, 500, 1000, "copy")], 1000, 4),
        )

    def test_waits_and_the_path_name_ranks_and_source_lines(self):
        self.assertRegex(self.text(), r"1 +750 ns +1 +0 +src/alg/x.c:1")
        self.assertRegex(self.text(), r"700 ns +1 us +1 +does 300 ns at src/alg/x.c:1")

    def test_pictures(self):
        if pictures.missing():
            self.skipTest("no matplotlib")
        for calls in ({("x", 8192): CALL}, {("x", 8192): CALL, ("y", 8192): None}):
            asked = types.SimpleNamespace(
                **{**vars(SIMULATION), "names": [name for name, _ in calls]}
            )
            self.assertTrue(chart.draw(asked, calls).startswith(b"\x89PNG"))
