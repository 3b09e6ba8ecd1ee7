# SPDX-License-Identifier: BSD-3-Clause
"""
The question that huddle simulate asks: its options, what they mean, and the call of the simulator
for each algorithm and size.
"""

import argparse
import os

from ..common import machines, places, repetitions
from ..common.collectives import HELP, find, known
from ..common.launching import settings_of
from ..common.layout import Trouble
from ..common.options import MAPS, real, sizes_of, whole
from ..common.progress import Progress

SIZES, PAIR_SIZES = "8:1M:8", "8:32K:8"  # of a message; of a block from each rank to each
MAX_SKEW_NS = 1e9
OPTIONS = ("ranks", "bytes", "root", "repetitions", "warmup", "seed")  # as the request has them


def add_arguments(parser):
    parser.add_argument("collective", nargs="?", default="bcast", help=HELP)
    parser.add_argument(
        "--machine",
        default=machines.THIS,
        metavar="NAME",
        help=(
            "a machine that is described, or a file NAME.toml; list: which there are (default: this"
            " one, as measured by huddle tune --machine)"
        ),
    )
    parser.add_argument(
        "--ranks", type=whole(2), metavar="N", help="each on a core of its own (default: all cores)"
    )
    parser.add_argument(
        "--map",
        choices=[name for name in MAPS if name != "none"],
        default="core",
        help="cores in turn, or in turn over the NUMA nodes or the sockets (default: core)",
    )
    parser.add_argument(
        "--bytes",
        type=sizes_of,
        metavar="SIZES",
        help=(
            "of the message, or of a block from one rank to one: 8,1K,1M or 8:4M:8 (default:"
            f" {SIZES}; blocks {PAIR_SIZES})"
        ),
    )
    parser.add_argument(
        "--algorithm",
        metavar="NAMES",
        help="with commas; all: each (default: what huddle would choose there)",
    )
    parser.add_argument(
        "--param",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a parameter of the one algorithm",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a setting of huddle's, as in HUDDLE_LEVELS_OFF=group,socket (see: huddle settings)",
    )
    parser.add_argument(
        "--root", type=whole(), metavar="N", help="of broadcasts and reductions (default: 0)"
    )
    parser.add_argument(
        "--method",
        choices=("single", "loop"),
        default="single",
        help=(
            "calls from a common start with fresh data: the slowest rank's median (default); calls"
            " back to back: their mean"
        ),
    )
    parser.add_argument(
        "--repetitions",
        type=whole(),
        metavar="N",
        help=(
            f"calls that count (default: {repetitions.REPETITIONS}; {repetitions.RING} of messages"
            " up to 4 KB: a ring of lines)"
        ),
    )
    parser.add_argument(
        "--warmup",
        type=whole(),
        metavar="N",
        help=(
            "calls before them (default: until all buffers and lines of the algorithm have been"
            " used)"
        ),
    )
    parser.add_argument(
        "--skew",
        type=real(0, MAX_SKEW_NS),
        metavar="NS",
        help="ranks enter a single call at random within so many ns (default: 0)",
    )
    parser.add_argument(
        "--seed", type=whole(), default=1, metavar="N", help="of all that is drawn (default: 1)"
    )
    parser.add_argument(
        "--measure", action="store_true", help="of this machine: also measure the same calls"
    )
    parser.add_argument(
        "--timeline",
        action="store_true",
        help=(
            "what each rank does when, who waits for whom, and the critical path, of the last call"
        ),
    )
    parser.add_argument(
        "--png",
        metavar="FILE",
        help="that as a picture; of several calls: their times over the size",
    )
    parser.add_argument("--json", action="store_true", help="what the simulator says, as JSON")
    parser.epilog = (
        "A command takes less than a second to minutes: longer for more ranks and longer messages,"
        " and a table the sum of its calls. A parameter of 0 (fragment, budget) is found by the"
        f" algorithm itself: huddle settings says how. {places.HELP}"
    )


def parameters(words):
    found = dict(word.partition("=")[::2] for word in words if "=" in word)
    if len(found) != len(words):
        raise Trouble(
            f"--param {next((w for w in words if '=' not in w), words[-1])}: not understood"
            " (accepted: NAME=VALUE, each once)",
            2,
        )
    return found


def load_machine(layout, name):
    if name != machines.THIS:
        return machines.load(layout, name)
    if not os.path.exists(machines.measured_file()):
        raise Trouble(
            f"--machine {name}: not measured yet: there is no {machines.measured_file()}, which"
            " huddle tune --machine writes (accepted: --machine with"
            f" {', '.join(machines.names(layout))}, or a file NAME.toml)",
            2,
        )
    return machines.read(machines.measured_file())


def asked_as(layout, *words):
    """What huddle simulate WORDS asks."""
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return Asked(parser.parse_args(words), layout)


def check_meaning(options, collective, rooted):
    """What says nothing of such calls is refused, not left out."""
    if options.bytes and not collective.moves:
        raise Trouble(f"--bytes: {collective.unsized}", 2)
    if options.root is not None and not collective.rooted:
        raise Trouble(
            f"--root: {options.collective} has none (accepted: with {' and '.join(rooted)})", 2
        )
    if options.skew is not None and options.method == "loop":
        raise Trouble(
            "--skew: calls back to back have no common start (accepted: with --method single)", 2
        )
    if options.measure and options.skew is not None:
        raise Trouble(
            "--skew: ranks that are measured enter a call as their clock lets them (accepted:"
            " without --measure)",
            2,
        )
    if options.measure and options.json:
        raise Trouble(
            "--measure: JSON has the simulator's answer only (accepted: without --json)", 2
        )


class Asked:
    """The question: what is the same for all its calls."""

    def __init__(self, options, layout):
        self.options, self.layout = options, layout
        self.about = find(layout, options.collective, "simulate")
        self.collective = self.about.name
        algorithms = [
            row for row in layout.ask("info", "algorithms") if row["collective"] == self.collective
        ]
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
        single = len(self.names) == len(self.sizes) == 1
        if options.timeline and (not single or options.method == "loop"):
            raise Trouble(
                "--timeline: of what? (accepted: one algorithm and one size, --method single)", 2
            )
        self.traced = (
            single
            and options.method == "single"
            and bool(options.timeline or options.png or options.json)
        )
        self.machine = load_machine(layout, options.machine)
        self.machine_facts = self.run_program({"machine": self.machine})["machine"]
        self.start_ns, self.small_calls = (
            0,
            None,
            # taken off simulated times; calls of a small message, None: as common/repetitions.py
            # has them
        )
        self.ranks = options.ranks if options.ranks is not None else self.machine_facts["cores"]
        if not 2 <= self.ranks <= self.machine_facts["cores"]:
            raise Trouble(
                f"--ranks {self.ranks}: a rank has a core of its own (accepted: 2 to"
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
            raise Trouble("--param: whose? (accepted: with --algorithm and one name)", 2)
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
        return {**self.settings, **forced}

    def as_said(self, name, error):
        """A complaint about a setting, which the user has said as a parameter."""
        for key in self.params:
            error = error.replace(
                f"HUDDLE_{self.collective}_{name}_{key}".upper() + "=", f"--param {key}="
            )
        return error

    def resolve(self, name, size):
        """
        What the library would do there: {"algorithm", "parameters", "slot_bytes"}; None: it leaves
        that call to the MPI.
        """
        asked = size if self.about.sized else 0
        elsewhere = (
            {}
            if self.options.machine == machines.THIS or "HUDDLE_TUNING" in self.settings
            else {"HUDDLE_TUNING": "off"}
        )  # a tuning file is of this machine
        answer = self.layout.ask(
            "explain",
            self.collective,
            str(asked),
            str(self.ranks),
            self.options.map,
            self.machine["topology"],
            **elsewhere,
            **self.environment(name),
        )
        if answer["error"]:
            raise Trouble(self.as_said(name, answer["error"]), 2)
        self.why = answer["why"]["by"]  # of the latest; shown where none is taken
        return answer["serves"]

    def setting(self, name):
        return self.settings.get(name, os.environ.get(name, ""))

    def run_program(self, request):
        return self.layout.question(
            "simulate",
            request,
            {
                "machine": f"--machine {self.options.machine}",
                **{key: f"--{key}" for key in OPTIONS},
            },
        )

    def call(self, name, size):
        """The simulator's answer, None where the algorithm does not take the call."""
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
        answer = self.run_program(request)["call"]
        if not answer["checker"]["clean"]:
            raise Trouble(
                f"the checker found something in {self.collective}/{serves['algorithm']}:"
                f" {answer['checker']['report'].strip()}"
            )
        answer["skew_ns"] = o.skew or 0
        answer["times"] = {what: ns - self.start_ns for what, ns in answer["times"].items()}
        return answer

    def calls(self):
        """(name, size) -> answer; the longest first: what is too much is said at once."""
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
        )
