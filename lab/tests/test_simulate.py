# SPDX-License-Identifier: BSD-3-Clause
"""Tests the program simulate, and every described machine."""

import glob
import json
import os
import re
import unittest

import ask
from paths import BUILD, SOURCE

from cli.common import machines
from cli.common.machines import tomllib

PROGRAM = os.path.join(BUILD, "libexec", "huddle", "simulate")

MACHINES = {
    os.path.splitext(os.path.basename(path))[0]: path
    for folder in ("", "held-out")
    for path in glob.glob(os.path.join(SOURCE, "lab", "machines", folder, "*.toml"))
}
LARGE = 40008  # more than one fragment, and whole elements

WORKS = ("7-cpu.com", "AnandTech", "Chips and Cheese", "Hewlett-Packard", "Phoronix", "WikiChip")
SOURCES = (
    r"paper 0[1-5]\b.*: ",
    r"(measured|published|assumed): \w.{5}",
    r"matrix( of .+)?: ",
    r"(" + "|".join(map(re.escape, WORKS)) + r") on \w.+: ",
    r"XHC \(.+\): ",
    r"Intel ARK: ",
    r"hwloc's \w",
    r"github\.com/\S+,",
)


def algorithms():
    """Returns the last algorithm of each collective in alg.def, whose slots hold large messages."""
    with open(os.path.join(SOURCE, "src/alg/alg.def"), encoding="utf-8") as file:
        return dict(re.findall(r"^ALG\((\w+), (\w+)\)", file.read(), re.MULTILINE))


def machine(name):
    with open(MACHINES[name], "rb") as file:
        return tomllib.load(file)


def without_source(lines):
    """
    Returns (line, reason) of each number of a description without a source in one of SOURCES'
    forms.
    """
    found, before, below = (
        [],
        False,
        None,
    )  # whether the previous number had a source; the table whose numbers all have the same source
    for line in lines:
        number = re.match(r"(\w+)(\.\w+)? = \d\S*\s*(?:# )?(.*)$", line)
        if not number:
            continue
        table, _, comment = number.groups()
        output = (
            any(re.match(form, comment) for form in SOURCES)
            or (before and re.match(r"the same($|\W.*)", comment))
            or (comment == "" and table == below)
        )
        below = table if "here and below" in comment or (comment == "" and table == below) else None
        before = bool(output)
        if not output:
            found.append((line, f"no source (accepted: {', '.join(SOURCES)}, the same)"))
    return found


def numbers_of(table, names=()):
    """Yields the keys of all numbers in a description."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from numbers_of(value, (*names, key))
        elif not isinstance(value, str):
            yield (*names, key)


def changed(table, names, value):
    first, *rest = names
    return {**table, first: changed(table[first], rest, value) if rest else value}


def simulate(**request):
    return ask.simulate(PROGRAM, request)


def answer(**request):
    return ask.answer(PROGRAM, request)


def place(unit, label):
    """Returns FILE:LINE of the only line of src/alg with this label."""
    with open(os.path.join(SOURCE, "src/alg", unit), encoding="utf-8") as file:
        (number,) = (n for n, line in enumerate(file, 1) if f"/* {label} */" in line)
    return f"src/alg/{unit}:{number}"


def alternating(shared, **more):
    """Returns a request for broadcasts, each after an allreduce, in one window or in two."""
    return {
        "machine": machine("xeon-e5-2620v4"),
        "collective": "bcast",
        "algorithm": "queue",
        "shared": shared,
        "alternate": {
            "collective": "allreduce",
            "algorithm": "slices",
            "bytes": more["bytes"],
            "shared": shared,
        },
        "trace": True,
        **more,
    }


@unittest.skipIf(tomllib is None, "no tomllib here")
class Machines(unittest.TestCase):
    def test_all_machines_load(self):
        cores = {name: answer(machine=machine(name))["machine"]["cores"] for name in MACHINES}
        wanted = {
            "ice-lake": 48,
            "kunpeng-920": 128,
            "xeon-e5-2620v4": 16,
            "xeon-e5620": 8,
            "opteron-8347he": 16,
            "epyc-9654": 192,
            "epyc-7742": 128,
            "xeon-8358": 64,
        }
        self.assertEqual(wanted, cores)

    def test_every_number_has_a_source(self):
        for name, path in MACHINES.items():
            with open(path, encoding="utf-8") as file:
                lines = file.read().splitlines()
            self.assertNotIn("not looked up", "\n".join(lines), name)
            for line, complaint in without_source(lines):
                self.fail(f"{name}: {line}: {complaint}")

    def test_unusable_sources_are_rejected(self):
        for comment in (
            "",
            "# a cycle or two",
            "# assumed",
            "# measured: ",
            "# press",
            "# WikiChip",
            "# not looked up",
            "# the same",
        ):
            self.assertEqual(1, len(without_source([f"post_ns = 1  {comment}"])), comment)
        self.assertEqual(
            [],
            without_source(
                [
                    "gap_ns.l3 = 1  # measured: a scan, here and below",
                    "gap_ns.numa = 2",
                    "post_ns = 1  # the same",
                ]
            ),
        )
        self.assertEqual(
            1,
            len(
                without_source(
                    ["gap_ns.l3 = 1  # measured: a scan, here and below", "serve_ns.l3 = 2"]
                )
            ),
        )

    def test_every_number_has_bounds(self):
        """
        Checks both bounds and a value that is not a number.  The error is a line with the key, the
        value and the accepted values, before anything is simulated.
        """
        good = machine("xeon-e5620")  # a description with the optional keys
        good["lines"] = {
            **good["lines"],
            "store_entries": 42,
            "revoke_ns": {"numa": 4, "machine": 9},
        }
        good["links"] = {**good["links"], "port_gbps": {"numa": 9}, "port_out_gbps": {"numa": 9}}
        good["copy"] = {
            **good["copy"],
            "nontemporal_gbps": 5,
            "kernel_process_gbps": 6,
            "nearest_gbps": {"own": 60, "numa": 50, "machine": 40},
        }
        good["caches"] = {**good["caches"], "nearest_bytes": 32768}
        answer(machine=good)
        keys = 0
        for names in numbers_of(good):
            keys += 1
            whole = names[1].endswith(("_bytes", "_entries"))
            may_be_0 = names[1] in ("revoke_ns", "home_ns")
            for value in (
                -1,
                -1e-300,
                1e300,
                2**70,
                float("nan"),
                float("inf"),
                1e13,
                *([0.5, 100000.5] if whole else []),
                *([] if may_be_0 else [0, 1e-9, 1e-300]),
            ):
                with self.subTest(".".join(names), value=value):
                    spoken = simulate(machine=machines.all_checked(changed(good, names, value)))
                    self.assertEqual(
                        (2, "", 1),
                        (spoken.returncode, spoken.stdout, spoken.stderr.count("\n")),
                        spoken.stderr,
                    )
                    self.assertRegex(
                        spoken.stderr,
                        rf"^huddle: simulate: machine: {re.escape('.'.join(names))}: \S+"
                        r" \(accepted: [^()]*\d to \d+ (bytes|entries|ns|GB/s)\)\n$",
                    )
        self.assertGreater(keys, 35)

    def test_tables_get_slower_with_distance(self):
        for name in MACHINES:
            tables = machine(name)
            for key in ("transfer_ns", "revoke_ns", "gap_ns", "serve_ns"):
                values = list(tables["lines"].get(key, {}).values())
                self.assertEqual(sorted(values), values, f"{name} {key}")
            for key in ("cached_gbps", "memory_gbps"):
                values = list(tables["copy"][key].values())
                self.assertEqual(sorted(values, reverse=True), values, f"{name} {key}")


@unittest.skipIf(tomllib is None, "no tomllib here")
class Calls(unittest.TestCase):
    def test_every_collective_runs_clean(self):
        for collective, algorithm in algorithms().items():
            for method in ("single", "loop"):
                call = answer(
                    machine=machine("kunpeng-920"),
                    collective=collective,
                    algorithm=algorithm,
                    bytes=0 if collective == "barrier" else LARGE,
                    ranks=9,
                    map="numa",
                    method=method,
                    repetitions=2,
                )["call"]
                self.assertTrue(call["checker"]["clean"], call)
                self.assertGreater(call["checker"]["posts"], 0)

    def test_missing_acknowledgements_are_found_as_races(self):
        units = {
            "banks": "lab/alg/queues/queues.h",
            "queue": "src/alg/queue/bcast.c",
            "slots": "lab/alg/queues/queues.h",
        }
        for name, unit in units.items():
            with open(os.path.join(SOURCE, unit), encoding="utf-8") as file:
                lines = [number for number, line in enumerate(file, 1) if "/* A2 */" in line]
            request = {
                "machine": machine("xeon-e5620"),
                "collective": "bcast",
                "algorithm": name,
                "bytes": 20000,
                "slot_bytes": 65536,
                "repetitions": 10,
            }
            self.assertEqual(0, simulate(**request).returncode)
            reports = []  # an algorithm awaits acknowledgements at one of these lines
            for line in lines:
                done = simulate(**request, drop={"file": unit, "line": line})
                report = json.loads(done.stdout)["call"]["checker"]["report"]
                reports += [report] if done.returncode == 1 else []
            self.assertEqual(1, len(reports), (name, reports))
            self.assertIn("race", reports[0])

    def test_a_window_handover_costs_the_loads_of_window_c(self):
        """
        Checks that a rank loads a line of each other rank, overlapped, without another difference.
        """
        ranks, lines = 8, machine("xeon-e5-2620v4")["lines"]
        where = place("window.c", "A1")
        near = ("numa",)  # the class of these ranks
        for size in (8192, 262144):
            for method in ("single", "loop"):
                taken, apart = (
                    answer(**alternating(shared, bytes=size, ranks=ranks, method=method))["call"]
                    for shared in (True, False)
                )
                self.assertEqual(
                    [True, False], [call["alternate"]["handover"] for call in (taken, apart)]
                )
                gap = min(lines["gap_ns"][c] for c in near)
                self.assertGreater(
                    taken["times"]["time_ns"] - apart["times"]["time_ns"], gap * (ranks - 2)
                )
                for rank in range(ranks if method == "single" else 0):
                    loads = [
                        s for s in taken["spans"] if s["rank"] == rank and s["at"].endswith(where)
                    ]
                    self.assertEqual(ranks - 1, len(loads), loads)
                    ns = sum(s["end_ns"] - s["begin_ns"] for s in loads)
                    self.assertGreater(ns, gap * (ranks - 2))
                    self.assertLess(ns, (ranks - 1) * max(lines["transfer_ns"][c] for c in near))
                    self.assertFalse([s for s in apart["spans"] if s["at"].endswith(where)])

    def test_a_handover_is_checked(self):
        line = place("window.c", "A1").rpartition(":")[2]
        done = simulate(
            **alternating(True, bytes=65536, ranks=4, method="loop"),
            drop={"file": "alg/window.c", "line": int(line)},
        )
        self.assertEqual(1, done.returncode, done)
        self.assertIn("race", json.loads(done.stdout)["call"]["checker"]["report"])

    def test_maps_place_ranks(self):
        def cores(by):
            return answer(
                machine=machine("kunpeng-920"),
                collective="barrier",
                algorithm="groups",
                ranks=6,
                map=by,
            )["call"]["core_of"]

        self.assertEqual([0, 1, 2, 3, 4, 5], cores("core"))
        self.assertEqual([0, 32, 64, 96, 1, 33], cores("numa"))
        self.assertEqual([0, 64, 1, 65, 2, 66], cores("socket"))

    def test_groups_follow_the_levels(self):
        def groups(off):
            call = answer(
                machine=machine("kunpeng-920"),
                collective="barrier",
                algorithm="groups",
                levels_off=off,
            )["call"]
            return [(level["level"], level["groups"]) for level in call["groups"]]

        self.assertEqual([("group", 32), ("numa", 4), ("socket", 2), ("team", 1)], groups(""))
        self.assertEqual([("numa", 4), ("team", 1)], groups("group,socket"))

    def test_shared_memory_on_one_node_is_far_from_the_others(self):
        """Checks that access costs more if a line's home is farther away than its holder."""

        def ns(placement):
            return answer(
                machine=machine("opteron-8347he"),
                collective="barrier",
                algorithm="groups",
                ranks=16,
                map="socket",
                placement=placement,
            )["call"]["times"]["time_ns"]

        self.assertLess(ns("on"), ns("off"))

    def test_the_same_seed_is_the_same_run(self):
        request = {
            "machine": machine("xeon-e5620"),
            "collective": "bcast",
            "algorithm": "slots",
            "bytes": 50000,
            "seed": 7,
        }
        self.assertEqual(simulate(**request).stdout, simulate(**request).stdout)

    def test_times(self):
        request = {
            "machine": machine("xeon-e5620"),
            "collective": "barrier",
            "algorithm": "dissemination",
            "ranks": 2,
            "trace": True,
        }
        call = answer(**request)["call"]
        time_ns = (
            37.2 + 37.2 + 64 / 68
            # A store after the other rank's copy has gone, and the other rank's line after its own
            # has crossed the ring.
        )
        self.assertAlmostEqual(time_ns, call["times"]["time_ns"])
        self.assertEqual(128, sum(link["bytes"] for link in call["links"]))  # one in each direction
        self.assertEqual([0, 1], sorted({span["rank"] for span in call["spans"]}))
        self.assertAlmostEqual(time_ns, call["path"][-1]["end_ns"])
        loop = answer(**request, method="loop", repetitions=100)["call"]
        self.assertTrue(2 * 37.2 <= loop["times"]["time_ns"] <= time_ns + 0.4, loop["times"])
        self.assertNotIn("spans", loop)

    def test_barriers_wait_for_late_ranks(self):
        request = {
            "machine": machine("xeon-e5620"),
            "collective": "barrier",
            "algorithm": "dissemination",
        }
        times = [answer(**request, skew_ns=skew)["call"]["times"]["time_ns"] for skew in (0, 10000)]
        self.assertTrue(times[0] < times[1] < times[0] + 10000, times)

    def test_readers_of_one_process_share_its_bandwidth(self):
        """
        Checks that readers share a limit if they pull most of a broadcast at once, and a high limit
        has no effect.
        """
        plain = machine("xeon-e5620")
        limited = changed(plain, ("copy", "kernel_process_gbps"), plain["copy"]["kernel_gbps"] / 8)
        enough = changed(plain, ("copy", "kernel_process_gbps"), 1000)
        request = {"collective": "bcast", "algorithm": "cma_read", "bytes": 1 << 20, "ranks": 3}
        none, ample, little = (
            answer(machine=which, **request)["call"]["times"]["time_ns"]
            for which in (plain, enough, limited)
        )
        self.assertAlmostEqual(none, ample)
        # Two readers, of two thirds each.  A leg of 32 KB is not limited if no other leg is in
        # progress.
        bytes_shared = 2 * (2 * (1 << 20) // 3 - (32 << 10))
        self.assertGreater(little, bytes_shared / limited["copy"]["kernel_process_gbps"])

    def test_farther_cores_are_slower(self):
        near, far = (
            answer(
                machine=machine("kunpeng-920"),
                collective="barrier",
                algorithm="counters",
                ranks=4,
                map=by,
            )["call"]["times"]["time_ns"]
            for by in ("core", "socket")
        )
        self.assertLess(2 * near, far)

    def test_parameters(self):
        call = answer(
            machine=machine("xeon-e5620"),
            collective="barrier",
            algorithm="combining",
            parameters={"degree": 4},
        )["call"]
        self.assertEqual({"degree": 4, "wake": "tree"}, call["parameters"])

    def test_complaints(self):
        good = {"collective": "bcast", "algorithm": "slots", "bytes": 100}
        for change, complaint in (
            ({"algorithm": "slot"}, "algorithm: huddle has no bcast/slot"),
            ({"ranks": 9}, "ranks: 9 (accepted: 2 to 8)"),
            ({"bytes": 0}, "bytes: 0 (accepted: 1 to 1073741824)"),
            ({"collective": "barrier", "algorithm": "groups"}, "bytes: 100 (accepted: 0 to 0)"),
            ({"root": 8}, "root: 8 (accepted: 0 to 7)"),
            ({"map": "node"}, "map: node (accepted: core, numa, socket)"),
            ({"method": "twice"}, "method: twice (accepted: single, loop)"),
            ({"parameters": {"x": 1}}, "parameters: bcast/slots does not have all of these"),
            ({"parameters": {"fragment": 0}}, "parameters.fragment: 0 (accepted: "),
            (
                {"algorithm": "queue", "parameters": {"tree": "oak"}},
                "parameters.tree: oak (accepted: ",
            ),
            ({"levels_off": "l9"}, "levels_off: l9 (accepted: names of levels)"),
            ({"placement": "far"}, "placement: far (accepted: "),
            (
                {"slot_bytes": 128},
                "slot_bytes: 128 is too little for bcast/slots with these parameters on 8 ranks",
            ),
            (
                {"alternate": {"collective": "reduce", "algorithm": "x"}},
                "alternate: algorithm: huddle has no reduce/x",
            ),
            (
                {"alternate": {"collective": "reduce", "algorithm": "slices", "bytes": 0}},
                "alternate: bytes: 0 (accepted: 1 to 1073741824)",
            ),
            (
                {"alternate": {"collective": "reduce", "algorithm": "slices", "slot_bytes": 128}},
                "alternate: slot_bytes: 128 is too little for reduce/slices",
            ),
            (
                {"alternate": {"collective": "bcast", "algorithm": "slots"}},
                "alternate: bcast/slots shares the slot of bcast/slots, so nothing is handed over",
            ),
            ({"drop": {"file": "queue/bcast.c"}}, "drop: accepted is the end of a path and a line"),
            ({"skew_ns": -1}, "skew_ns: accepted is a number of 0 or more"),
            (
                {"machine": {**machine("xeon-e5620"), "lines": {}}},
                "machine: lines.size_bytes: missing (accepted: a power of two, 32 to 256 bytes)",
            ),
        ):
            done = simulate(**{"machine": machine("xeon-e5620"), **good, **change})
            self.assertEqual((2, ""), (done.returncode, done.stdout))
            self.assertTrue(
                done.stderr.startswith(f"huddle: simulate: {complaint}")
                and done.stderr.count("\n") == 1,
                done.stderr,
            )
