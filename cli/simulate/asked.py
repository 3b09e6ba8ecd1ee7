# SPDX-License-Identifier: BSD-3-Clause
"""
The question of huddle simulate: its options, their meaning, and the call of the simulator for each
algorithm and size.
"""

import argparse
import os

from ..common import machines, places, repetitions
from ..common.collectives import HELP, find, known
from ..common.launching import settings_of
from ..common.layout import Trouble
from ..common.options import MAPS, real, sizes_of, whole
from ..common.progress import Progress
from .alternate import Alternate, apart

SIZES, PAIR_SIZES = (
    "8:1M:8",
    "8:32K:8",
)  # bytes of a message; bytes of a block from each rank to each
MAX_SKEW_NS = 1e9
OPTIONS = ("ranks", "bytes", "root", "repetitions", "warmup", "seed")  # by the names of the request


def add_arguments(parser):
    parser.add_argument("collective", nargs="?", default="bcast", help=HELP)
    parser.add_argument(
        "--machine",
        default=machines.THIS,
        metavar="NAME",
        help=(
            "a described machine, or a file NAME.toml; list: print the known ones (default: this"
            " machine, as described by huddle tune --machine)"
        ),
    )
    parser.add_argument(
        "--ranks",
        type=whole(2),
        metavar="N",
        help="number of ranks, one core per rank (default: all cores)",
    )
    parser.add_argument(
        "--map",
        choices=[name for name in MAPS if name != "none"],
        default="core",
        help="bind ranks to cores in turn, or in turn over NUMA nodes or sockets (default: core)",
    )
    parser.add_argument(
        "--bytes",
        type=sizes_of,
        metavar="SIZES",
        help=(
            "sizes of the message, or of a block from one rank to one rank: 8,1K,1M or 8:4M:8"
            f" (default: {SIZES}; blocks {PAIR_SIZES})"
        ),
    )
    parser.add_argument(
        "--algorithm",
        metavar="NAMES",
        help="algorithms, separated by commas; all: each of them (default: huddle's choice)",
    )
    parser.add_argument(
        "--param",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a parameter of the algorithm, if there is only one",
    )
    parser.add_argument(
        "--alternate",
        metavar="COLLECTIVE[/ALGORITHM]",
        help=(
            "before each call, one of this collective with as many bytes, which does not count:"
            " shows what it costs to take the team's window over from another algorithm"
        ),
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help=(
            "a setting of huddle, for example HUDDLE_LEVELS_OFF=group,socket (see huddle settings)"
        ),
    )
    parser.add_argument(
        "--root", type=whole(), metavar="N", help="root of broadcasts and reductions (default: 0)"
    )
    parser.add_argument(
        "--method",
        choices=("single", "loop"),
        default="single",
        help=(
            "single: calls from a common start with fresh data, median of the slowest rank"
            " (default); loop: back-to-back calls, their mean"
        ),
    )
    parser.add_argument(
        "--repetitions",
        type=whole(),
        metavar="N",
        help=(
            f"number of counted calls (default: {repetitions.REPETITIONS}; {repetitions.RING} for"
            " messages up to 4 KB, a ring of lines)"
        ),
    )
    parser.add_argument(
        "--warmup",
        type=whole(),
        metavar="N",
        help=(
            "uncounted calls before them (default: until all buffers and lines of the algorithm"
            " have been used)"
        ),
    )
    parser.add_argument(
        "--skew",
        type=real(0, MAX_SKEW_NS),
        metavar="NS",
        help="ranks enter a single call at random within NS ns (default: 0)",
    )
    parser.add_argument(
        "--seed", type=whole(), default=1, metavar="N", help="seed of random numbers (default: 1)"
    )
    parser.add_argument(
        "--measure", action="store_true", help="also measure the same calls; only for this machine"
    )
    parser.add_argument(
        "--timeline",
        action="store_true",
        help="print what each rank does when, the waits, and the critical path, of the last call",
    )
    parser.add_argument(
        "--png",
        metavar="FILE",
        help="draw the timeline; for several calls, their times over the size",
    )
    parser.add_argument("--json", action="store_true", help="print the simulator's answer as JSON")
    parser.epilog = (
        "A call takes from less than a second to minutes, longer for more ranks and longer"
        " messages; a table takes the sum of its calls. If a parameter (fragment, budget) is 0, the"
        f" algorithm computes it: huddle settings explains how. {places.HELP}"
    )


def parameters(words):
    found = dict(word.partition("=")[::2] for word in words if "=" in word)
    if len(found) != len(words):
        raise Trouble(
            f"--param {next((w for w in words if '=' not in w), words[-1])}: not valid"
            " (accepted: NAME=VALUE, each once)",
            2,
        )
    return found


def load_machine(layout, name):
    if name != machines.THIS:
        return machines.load(layout, name)
    if not os.path.exists(machines.measured_file()):
        raise Trouble(
            f"--machine {name}: not described yet: there is no {machines.measured_file()}, which"
            " huddle tune --machine writes (accepted: --machine with"
            f" {', '.join(machines.names(layout))}, or a file NAME.toml)",
            2,
        )
    return machines.read(machines.measured_file())


def asked_as(layout, *words):
    """The question of huddle simulate WORDS."""
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return Asked(parser.parse_args(words), layout)


def check_meaning(options, collective, rooted):
    """Refuses options that have no meaning for these calls."""
    if options.bytes and not collective.moves:
        raise Trouble(f"--bytes: {collective.unsized}", 2)
    if options.root is not None and not collective.rooted:
        raise Trouble(
            f"--root: {options.collective} has none (accepted: with {' and '.join(rooted)})", 2
        )
    if options.skew is not None and options.method == "loop":
        raise Trouble(
            "--skew: back-to-back calls have no common start (accepted: with --method single)", 2
        )
    if options.measure and options.skew is not None:
        raise Trouble(
            "--skew: the clock determines when measured ranks enter a call (accepted: without"
            " --measure)",
            2,
        )
    if options.measure and options.alternate:
        raise Trouble("--alternate: is not measured (accepted: without --measure)", 2)
    if options.measure and options.json:
        raise Trouble(
            "--measure: JSON has the simulator's answer only (accepted: without --json)", 2
        )


class Asked:
    """The question: the options that all its calls share."""

    def __init__(self, options, layout):
        self.options, self.layout = options, layout
        self.about = find(layout, options.collective, "simulate")
        self.collective = self.about.name
        rows = layout.ask("info", "algorithms")
        algorithms = [row for row in rows if row["collective"] == self.collective]
        self.alternate = options.alternate and Alternate(options.alternate, rows, layout)
        self.names = self.choose([row["name"] for row in algorithms])
        self.params, self.settings = parameters(options.param), settings_of(options.set, layout)
        self.check_params(
            {row["name"]: [p["name"] for p in row["parameters"]] for row in algorithms}
        )
        check_meaning(options, self.about, [c.name for c in known(layout) if c.rooted])
        self.sizes = (
            [0]
            if not self.about.moves
            else options.bytes or sizes_of(PAIR_SIZES if self.about.blocks else SIZES)
        )
        self.single = len(self.names) == len(self.sizes) == 1
        if options.timeline and (not self.single or options.method == "loop"):
            raise Trouble(
                "--timeline: needs a single call (accepted: one algorithm and one size, --method"
                " single)",
                2,
            )
        self.traced = (
            self.single
            and options.method == "single"
            and bool(options.timeline or options.png or options.json)
        )
        self.machine = load_machine(layout, options.machine)
        self.machine_facts = self.run_program({"machine": self.machine})["machine"]
        self.start_ns, self.small_calls = (
            0,
            None,
            # subtracted from simulated times; number of calls of small messages, None: that of
            # common/repetitions.py
        )
        self.ranks = options.ranks if options.ranks is not None else self.machine_facts["cores"]
        if not 2 <= self.ranks <= self.machine_facts["cores"]:
            raise Trouble(
                f"--ranks {self.ranks}: needs one core per rank (accepted: 2 to"
                f" {self.machine_facts['cores']})",
                2,
            )

    def choose(self, known):
        """Names; None: huddle's own choice."""
        if self.options.algorithm is None:
            return [None]
        said = self.options.algorithm
        names = known if said == "all" else list(dict.fromkeys(said.split(",")))
        for name in names:
            if name not in known:
                which = (
                    ""
                    if name == said
                    else f", {name!r}" if name != "all" else ", which must be alone"
                )
                raise Trouble(
                    f"--algorithm {said}: {self.collective} has no such algorithm{which} (accepted:"
                    f" {', '.join(known)}, with commas; or all)",
                    2,
                )
        return names

    def check_params(self, known):
        if self.params and (len(self.names) != 1 or self.names[0] is None):
            raise Trouble(
                "--param: needs an algorithm (accepted: with --algorithm and one name)", 2
            )
        for name in self.params:
            if name not in known[self.names[0]]:
                raise Trouble(
                    f"--param {name}: {self.collective}/{self.names[0]} has no such parameter"
                    f" (accepted: {', '.join(known[self.names[0]]) or 'none'})",
                    2,
                )

    def environment(self, name):
        prefix = f"HUDDLE_{self.collective.upper()}"
        forced = (
            {
                prefix: name,
                **{f"{prefix}_{name}_{key}".upper(): value for key, value in self.params.items()},
            }
            if name
            else {}
        )
        return {**self.settings, **self.alternate_forced(), **forced}

    def alternate_forced(self):
        """One plan has both algorithms, unless they are of one collective."""
        other = self.alternate and self.alternate.about.name != self.collective
        return self.alternate.forced() if other else {}

    def as_said(self, name, error):
        """Rewrites an error about a setting to name the --param that the user gave."""
        for key in self.params:
            error = error.replace(
                f"HUDDLE_{self.collective}_{name}_{key}".upper() + "=", f"--param {key}="
            )
        return error

    def resolve(self, name, size):
        """
        The library's choice there: {"algorithm", "parameters", "slot_bytes"}; None: the call falls
        back to the MPI.
        """
        return self.serves(self.about, size, self.environment(name), name)

    def serves(self, about, size, environment, name=None):
        """The same, of any collective."""
        elsewhere = (
            {}
            if self.options.machine == machines.THIS or "HUDDLE_TUNING" in self.settings
            else {"HUDDLE_TUNING": "off"}
        )  # a tuning file is only for this machine
        answer = self.layout.ask(
            "explain",
            about.name,
            str(size if about.sized else 0),
            str(self.ranks),
            self.options.map,
            self.machine["topology"],
            **elsewhere,
            **environment,
        )
        if answer["error"]:
            raise Trouble(self.as_said(name, answer["error"]), 2)
        self.why = answer["why"]["by"]  # of the latest call; printed if no call is handled
        return answer["serves"]

    def setting(self, name):
        return self.settings.get(name, os.environ.get(name, ""))

    def run_program(self, request):
        return self.layout.question(
            "simulate",
            request,
            {
                "machine": f"--machine {self.options.machine}",
                "alternate": f"--alternate {self.options.alternate}",
                **{key: f"--{key}" for key in OPTIONS},
            },
        )

    def call(self, name, size):
        """The simulator's answer; None: the algorithm does not handle the call."""
        serves, o = self.resolve(name, size), self.options
        if not serves:
            return None
        said = {
            key: value
            for key, value in (("repetitions", o.repetitions), ("warmup", o.warmup))
            if value is not None
        }
        request = {
            "machine": self.machine,
            "collective": self.collective,
            "algorithm": serves["algorithm"],
            "parameters": serves["parameters"],
            "slot_bytes": serves["slot_bytes"],
            "bytes": size,
            "ranks": self.ranks,
            "map": o.map,
            "root": o.root or 0,
            "method": o.method,
            **repetitions.calls(serves["slot_bytes"], size, self.small_calls),
            **said,
            "skew_ns": o.skew or 0,
            "seed": o.seed,
            "trace": self.traced,
            "levels_off": self.setting("HUDDLE_LEVELS_OFF"),
            "placement": "off" if self.setting("HUDDLE_PLACEMENT") in ("off", "0") else "on",
        }
        if self.alternate:
            request["shared"] = serves["shared"]
            request["alternate"] = self.between(name, size)
        answer = self.simulated(request)
        if self.alternate and self.single and answer["alternate"]["handover"]:
            answer["without_handover_ns"] = self.simulated(apart(request))["times"]["time_ns"]
        answer["skew_ns"] = o.skew or 0
        answer["times"] = {what: ns - self.start_ns for what, ns in answer["times"].items()}
        return answer

    def between(self, name, size):
        """The request's part about the calls of --alternate."""
        other = self.alternate
        shares = other.about.name != self.collective
        environment = self.environment(name) if shares else {**self.settings, **other.forced()}
        serves = self.serves(other.about, size, environment, name)
        return other.request(serves, self.why, size)

    def simulated(self, request):
        """The simulator's answer, in which the checker has found no fault."""
        answer = self.run_program(request)["call"]
        if not answer["checker"]["clean"]:
            raise Trouble(
                f"the checker found something in {self.collective}/{request['algorithm']}:"
                f" {answer['checker']['report'].strip()}"
            )
        return answer

    def calls(self):
        """(name, size) -> answer; the longest run first, so that too large ones fail early."""
        found = {}
        with Progress(len(self.sizes) * len(self.names), "simulating") as progress:
            for name, size in (
                (name, size) for size in reversed(self.sizes) for name in self.names
            ):
                found[name, size] = self.call(name, size)
                progress.step()
        return {(name, size): found[name, size] for size in self.sizes for name in self.names}

    def words(self):
        return (
            f"{self.ranks} ranks {MAPS[self.options.map]}, on"
            f" {self.machine['name']}{machines.doubt_text(self.machine.get('doubt'))}"
            f"{f', each after one of {self.alternate.said}' if self.alternate else ''}"
        )
