# SPDX-License-Identifier: BSD-3-Clause
"""Tests huddle lab validate: recorded figures and simulated figures."""

import json
import os
import shutil
import tempfile
import unittest

from harness import run_huddle
from paths import BUILD, SOURCE

from lab.cli.described import as_described, hops_of
from lab.cli.validate.agreement import agreement, kendall

RECORDED = os.path.join(SOURCE, "lab", "machines", "recorded", "xeon-4-cores")
HEAD = "collective,ranks,algorithm,bytes,us\n"


def validate(*words, **environment):
    return run_huddle(BUILD, ("lab", "validate", *words), timeout=240, **environment)


class Numbers(unittest.TestCase):
    def test_equal_times_agree(self):
        times = {("a", 8): 1.0, ("b", 8): 2.0, ("a", 64): 3.0}
        self.assertEqual(
            (3, 1.0, 1.0, 1.0, (1.0, "a", 8), (1.0, "a", 8)), tuple(agreement(times, times))
        )

    def test_a_constant_factor_is_bias_and_error(self):
        times = {("a", 8): 1.0, ("b", 8): 2.0}
        half = agreement(times, {key: us / 2 for key, us in times.items()})
        self.assertAlmostEqual(0.5, half.bias)
        self.assertAlmostEqual(2.0, half.error)
        self.assertEqual(1.0, half.tau)

    def test_deviations_up_and_down_are_no_bias(self):
        found = agreement({("a", 8): 1.0, ("b", 8): 1.5}, {("a", 8): 2.0, ("b", 8): 0.75})
        self.assertAlmostEqual(1.0, found.bias)
        self.assertAlmostEqual(2.0, found.error)
        self.assertEqual(-1.0, found.tau)

    def test_the_order_is_kendalls_tau(self):
        self.assertIsNone(kendall([(1, 5)]))
        self.assertAlmostEqual(1 / 3, kendall([(1, 1), (2, 3), (3, 2)]))

    def test_described_hops_prefers_hop_ns(self):
        lines = {"transfer_ns": {"l3": 25, "machine": 100}}
        self.assertEqual([25, 100], list(hops_of({"lines": lines})))
        lines["hop_ns"] = {"l3": 46, "machine": 200}
        hops = hops_of({"lines": lines})
        self.assertEqual([46, 200], list(hops))
        self.assertEqual([True, False, True], [as_described(ns, hops) for ns in (48, 100, 210)])

    def test_runs_without_common_cells_have_no_agreement(self):
        self.assertIsNone(agreement({("a", 8): 1.0}, {("b", 8): 1.0}))


class Command(unittest.TestCase):
    def test_recorded_figures_are_compared(self):
        few = [2, 3, 4]
        teams = {"xeon-4-cores": few, "epyc-4-cores": few, "xeon-16-cores": [5, 8, 12, 16]}
        for name, ranks in teams.items():
            done = validate("barrier", "--data", name, "--json")
            self.assertEqual(0, done.returncode, done.stderr)
            answer = json.loads(done.stdout)
            self.assertEqual(ranks, [cell["ranks"] for cell in answer["cells"]])
            for cell in answer["cells"]:
                self.assertEqual(cell["figures"], len(cell["calls"]))
                self.assertTrue(0.2 < cell["bias"] < 5, cell)
                self.assertTrue(all(call["simulated_us"] > 0 for call in cell["calls"]))

    def test_the_page_has_the_current_simulated_times(self):
        """
        Checks the first table of simulated.md, since an algorithm or the simulator may have
        changed.
        """
        with open(os.path.join(SOURCE, "lab", "docs", "simulated.md"), encoding="utf-8") as file:
            page = file.read().partition("\n## A recorded machine")[2].partition("\n## ")[0]
        rows = [line.split("|")[1:-1] for line in page.splitlines() if line.startswith("| ")][2:]
        output = {(row[0].strip(), int(row[1])): [float(cell) for cell in row[5:8]] for row in rows}
        answer = json.loads(validate("--data", "xeon-4-cores", "--json").stdout)
        for cell in answer["cells"]:
            bias, error, order = output.pop((cell["collective"], cell["ranks"]))
            self.assertAlmostEqual(bias, cell["bias"], delta=0.05, msg=cell["collective"])
            self.assertAlmostEqual(error, cell["error"], delta=0.05, msg=cell["collective"])
            self.assertAlmostEqual(order, cell["tau"], delta=0.1, msg=cell["collective"])
        self.assertEqual({}, output)

    def test_a_file_and_one_number_of_ranks(self):
        with tempfile.TemporaryDirectory() as place:
            path = os.path.join(place, "mine.csv")
            with open(RECORDED + ".toml", encoding="utf-8") as described:
                with open(os.path.join(place, "mine.toml"), "w", encoding="utf-8") as file:
                    file.write(described.read())
            with open(path, "w", encoding="utf-8") as file:
                file.write(HEAD + "bcast,2,inline,8,.2\nbcast,2,queue,8,.3\nbcast,3,queue,8,.4\n")
            done = validate("--data", path, "--ranks", "2")
            self.assertEqual(0, done.returncode, done.stderr)
            rows = [line.split() for line in done.stdout.splitlines() if "bcast" in line]
            self.assertEqual([["bcast", "2", "2"]], [row[:3] for row in rows])

    def test_figures_of_other_line_transfers_do_not_count(self):
        with tempfile.TemporaryDirectory() as place:
            path = os.path.join(place, "mine.csv")
            shutil.copy(RECORDED + ".toml", os.path.join(place, "mine.toml"))
            with open(path, "w", encoding="utf-8") as file:
                file.write(HEAD.replace("us", "us,line_ns") + "bcast,2,inline,8,.2,90\n")
                file.write("bcast,2,queue,8,.3,40\nbcast,2,slots,8,.3,95\nbcast,2,levels,8,.3,\n")
            done = validate("--data", path, "--json")
            self.assertEqual(0, done.returncode, done.stderr)
            answer = json.loads(done.stdout)
            (cell,) = answer["cells"]
            self.assertEqual(["inline", "levels"], [c["algorithm"] for c in cell["calls"]])
            self.assertEqual(1, len(answer["notes"]))
            self.assertIn("2 figures do not count", answer["notes"][0])
            self.assertIn("40 to 95 ns", answer["notes"][0])

    def test_simulated_calls_include_the_described_cost_of_calls(self):
        """Checks ranks that enter at the same moment: without skew, only the sum remains."""
        with tempfile.TemporaryDirectory() as place:
            path, output = os.path.join(place, "mine.csv"), []
            with open(path, "w", encoding="utf-8") as file:
                file.write(HEAD + "barrier,2,dissemination,0,.2\n")
            with open(RECORDED + ".toml", encoding="utf-8") as file:
                before = file.read().split("[call]")[0]
            for call in ("", "[call]\nenter_ns = 1000\ndata_ns = 77\nhost_ns = 300\n"):
                with open(os.path.join(place, "mine.toml"), "w", encoding="utf-8") as file:
                    file.write(before + call)
                answer = json.loads(validate("--data", path, "--json").stdout)
                output.append(answer["cells"][0]["calls"][0]["simulated_us"])
            self.assertAlmostEqual(1.3, output[1] - output[0])

    def here(self, home, *words):
        return validate("bcast", "--ranks", "2", *words, XDG_CONFIG_HOME=home)

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "one processor")
    def test_this_machine_must_be_described(self):
        """Checks that nothing else is printed before."""
        with tempfile.TemporaryDirectory() as home:
            done = self.here(home)
        self.assertEqual((2, ""), (done.returncode, done.stdout))
        self.assertRegex(
            done.stderr, r"^huddle: validate: this machine is not described: [^\n]*--data NAME\)\n$"
        )

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "one processor")
    def test_every_requested_figure_is_measured_or_explained(self):
        """Checks for each requested call for a figure, or a line with the reason."""
        with tempfile.TemporaryDirectory() as home:
            os.makedirs(os.path.join(home, "huddle"))
            shutil.copy(
                os.path.join(SOURCE, "lab", "machines", "xeon-e5620.toml"),
                os.path.join(home, "huddle", "machine.toml"),
            )
            done = self.here(home, "--algorithm", "inline,queue", "--bytes", "8,8K", "--json")
        self.assertEqual(0, done.returncode, done.stderr)
        answer = json.loads(done.stdout)
        (cell,) = answer["cells"]
        self.assertEqual(("this machine", 2), (answer["data"], cell["ranks"]))
        asked = {("inline", 8), ("queue", 8), ("queue", 8192)}
        self.assertTrue({(c["algorithm"], c["bytes"]) for c in cell["calls"]} <= asked, cell)
        self.assertTrue(cell["calls"] or answer["notes"])

    def refused(self, text, *words, described=True):
        with tempfile.TemporaryDirectory() as place:
            path = os.path.join(place, "x.csv")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            if described:
                with open(os.path.join(place, "x.toml"), "w", encoding="utf-8") as file:
                    file.write('name = "x"\n')
            done = validate("--data", path, *words)
            self.assertEqual(2, done.returncode, done.stdout)
            self.assertEqual(1, done.stderr.count("\n"), done.stderr)
            return done.stderr

    def test_invalid_data_and_names_are_refused(self):
        self.assertIn(
            "accepted: epyc-4-cores, xeon-16-cores, xeon-4-cores, ",
            validate("--data", "nowhere").stderr,
        )
        self.assertIn("accepted: allgather, ", validate("sing").stderr)
        self.assertIn("No such file", validate("--data", "/nowhere.csv").stderr)
        self.assertIn("no figures (accepted: a CSV file", self.refused("a,b\n1,2\n"))
        self.assertIn("line 2", self.refused(HEAD + "bcast,2,queue,8,fast\n"))
        self.assertIn("line 3", self.refused(HEAD + "bcast,2,queue,8,1\nbcast,1,queue,8,1\n"))
        self.assertIn("field larger", self.refused(HEAD + f"bcast,2,queue,8,{'1' * 200000}\n"))
        lines = HEAD.replace("us", "us,line_ns") + "bcast,2,queue,8,1,50\n"
        self.assertIn("x.toml: topology: missing", self.refused(lines))
        self.assertIn("describes the machine", self.refused(HEAD, described=False))
        self.assertIn("--bytes: not with", self.refused(HEAD, "--bytes", "8"))
        self.assertIn("sing (accepted: ", self.refused(HEAD + "sing,2,queue,8,1\n"))
        self.assertIn(
            "(accepted: bcast; --ranks 2)", self.refused(HEAD + "bcast,2,queue,8,1\n", "reduce")
        )
